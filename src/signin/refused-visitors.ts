import type { Audit } from '../access/audit/audit.ts'
import { createRateLimit } from '../platform/flow/rate-limit.ts'
import type { Visitor } from './visitor/visitor.ts'

/** Audit rows for refusals of one network in a minute: they are kept for ever, and anyone can cause them. */
const rowsPerMinute = 10
/** Networks whose unrecorded refusals are counted. */
const maxCounted = 10_000
/** Unknown session cookies remembered: each is recorded once. */
const maxRemembered = 10_000

/** Audit rows for visitors refused before a policy could decide, bounded per network. */
export interface Refusals {
  /** Resolves once the row is durable, or at once if the network has had its rows for this minute. */
  record(this: void, visitor: Refused, entry: RefusalEntry): Promise<void>
  /** Records a session cookie that belongs to no session: it was invented, or its session has ended. */
  recordCookie(this: void, visitor: Refused, hash: string): Promise<void>
}

type Refused = Pick<Visitor, 'network' | 'address' | 'requestId'>

interface RefusalEntry {
  readonly action: 'sign_in_failed' | 'provider_logout_failed' | 'session_unknown' | 'session_too_old'
  /** If known. */
  readonly personId?: string
  readonly details: Readonly<Record<string, string>>
}

interface RefusalNeeds {
  readonly audit: Pick<Audit, 'record'>
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

export function createRefusals({ audit, clock = Date.now }: RefusalNeeds): Refusals {
  const recorded = createRateLimit({ perMinute: rowsPerMinute, clock })
  const unrecorded = new Map<string, number>()
  const cookies = new Set<string>()

  /** How many refusals of the network have no row since its last one; undefined if this one gets none either. */
  function take(network: string): number | undefined {
    const before = unrecorded.get(network) ?? 0
    if (recorded.take(network) === 0) {
      unrecorded.delete(network)
      return before
    }
    if (unrecorded.size < maxCounted || before > 0) unrecorded.set(network, before + 1)
    return undefined
  }

  async function record(visitor: Refused, { action, personId, details }: RefusalEntry): Promise<void> {
    const { network, address, requestId } = visitor
    const before = take(network)
    if (before === undefined) return
    await audit.record({
      actor: personId === undefined ? { kind: 'visitor' } : { kind: 'person', id: personId },
      action,
      outcome: 'refused',
      requestId,
      address,
      details: { ...details, ...(before > 0 && { more: String(before) }) },
    })
  }

  return Object.freeze<Refusals>({
    record,
    async recordCookie(visitor, hash) {
      if (cookies.has(hash)) return
      cookies.add(hash)
      const [oldest] = cookies
      if (cookies.size > maxRemembered && oldest !== undefined) cookies.delete(oldest)
      await record(visitor, { action: 'session_unknown', details: { why: 'unknown_cookie' } })
    },
  })
}
