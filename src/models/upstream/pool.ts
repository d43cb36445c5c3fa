import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import { createBreaker, type Breaker } from './breaker.ts'
import { Failure } from './failure.ts'
import { createTurns, type Weighted } from './turns.ts'

/** Attempts of one request: at least 3, and one for each member, up to 6. */
const attempts = { least: 3, most: 6 }

/** Milliseconds before the same member is tried again, doubled with each attempt; less by chance, down to the half. */
const backoff = 100

/** One of several that can do the same work. */
export interface Member extends Weighted {
  /** For the log and for operators; no secret. */
  readonly name: string
  /** Whether it takes no more for the moment. */
  full(): boolean
}

/** Those who share the work of one model, by weight; who keeps failing is left out until it is well again. */
export interface MemberPool<Kind extends Member> {
  /**
   * Has the work done by one member, and after a repeatable Failure by another, or by the same after a pause: as long as
   * the upstream asks, where that is in time. `work` gets the milliseconds that are left. `undefined` when the caller
   * left during a pause. Throws the Problem of the last Failure; `overloaded` when all are full; `unavailable` when all
   * are given up for the moment.
   */
  run<Value>(
    work: (member: Kind, left: number) => Promise<Value>,
    asked: PoolRequest,
  ): Promise<{ readonly value: Value; readonly member: Kind } | undefined>
  /** Counts a failure of a member whose stream broke off after it began. */
  reportFailure(member: Kind, requestId: string | undefined): void
  health(): { readonly ready: boolean; readonly reason?: string }
}

/** The request that an attempt is made for. */
export interface PoolRequest {
  readonly signal: AbortSignal
  readonly limits: { readonly requestId?: string | undefined }
}

export interface PoolOptions<Kind extends Member> {
  readonly members: readonly Kind[]
  /** Milliseconds: `total` for all attempts and pauses, `pause` for the longest one. */
  readonly total: number
  readonly pause: number
  readonly log: Logger
}

interface Entry<Kind> extends Weighted {
  readonly member: Kind
  readonly breaker: Breaker
  /** Until when the upstream asked to be left alone. */
  restsUntil: number
}

export function createMemberPool<Kind extends Member>(options: PoolOptions<Kind>): MemberPool<Kind> {
  const { total, pause, log } = options
  const entries: readonly Entry<Kind>[] = options.members.map((member) => ({
    member,
    weight: member.weight,
    restsUntil: 0,
    breaker: createBreaker(({ state, failures, requestId: request_id }) => {
      const endpoint = member.name
      if (state === 'open') log.warn({ request_id, endpoint, failures }, 'an endpoint keeps failing: skipped for now')
      else log.info({ request_id, endpoint }, 'an endpoint has recovered')
    }),
  }))
  const turns = createTurns(entries)
  const most = Math.min(attempts.most, Math.max(attempts.least, entries.length))

  async function run<Value>(
    work: (member: Kind, left: number) => Promise<Value>,
    { signal, limits: { requestId } }: PoolRequest,
  ) {
    const began = performance.now()
    let tried: Map<Entry<Kind>, number> | undefined
    let entry = first(began)
    for (let attempt = 1; ; attempt++) {
      const now = performance.now()
      const report = entry.breaker.begin(requestId)
      try {
        const value = await work(entry.member, began + total - now)
        report(signal.aborted ? 'unknown' : 'well', performance.now())
        return { value, member: entry.member }
      } catch (error) {
        const failed = performance.now()
        if (!(error instanceof Failure)) {
          report('unknown', failed)
          throw error
        }
        // One request counts once against a member, however often it asks.
        tried ??= new Map()
        report(tried.has(entry) ? 'unknown' : error.health, failed)
        if (error.rest > 0) entry.restsUntil = failed + error.rest + Math.random() * backoff
        tried.set(entry, failed + spread(backoff * 2 ** (attempt - 1)))
        const next = error.repeatable && attempt < most ? another(tried, failed, error.elsewhere) : undefined
        if (!next || next.at > Math.min(failed + pause, began + total)) throw error.problem
        const { cause } = error.problem.details
        log.info({ request_id: requestId, endpoint: entry.member.name, attempt, err: cause }, 'an attempt failed')
        if (next.at > failed && !(await sleep(next.at - failed, signal))) return undefined
        if (signal.aborted) return undefined
        if (!isUsable(next.entry, performance.now())) throw error.problem
        entry = next.entry
      }
    }
  }

  function first(now: number): Entry<Kind> {
    const rested = turns.next((entry) => entry.restsUntil <= now && isUsable(entry, now))
    const chosen = rested ?? turns.next((entry) => isUsable(entry, now))
    if (chosen) return chosen
    if (entries.some(({ breaker }) => breaker.permits(now))) {
      throw new Problem('overloaded', 'The model has as much work as it can take. Try again shortly.', {
        retryAfter: 1,
      })
    }
    const retryAt = Math.min(...entries.map(({ breaker }) => breaker.retryAt ?? now))
    const retryAfter = Math.max(1, Math.ceil((retryAt - now) / 1000))
    throw new Problem('unavailable', `The model cannot be reached. Try again in ${retryAfter} s.`, { retryAfter })
  }

  /** Who goes on, and when: somebody new at once, else who may be asked again the soonest. */
  function another(tried: ReadonlyMap<Entry<Kind>, number>, now: number, elsewhere: boolean) {
    const fresh = turns.next((entry) => !tried.has(entry) && entry.restsUntil <= now && isUsable(entry, now))
    if (fresh) return { entry: fresh, at: now }
    return entries
      .filter((entry) => isUsable(entry, now) && !(elsewhere && tried.has(entry)))
      .map((entry) => ({ entry, at: Math.max(entry.restsUntil, tried.get(entry) ?? 0, now) }))
      .toSorted((one, other) => one.at - other.at)[0]
  }

  return Object.freeze({
    run,
    reportFailure(member: Kind, requestId: string | undefined) {
      const breaker = entries.find((entry) => entry.member === member)?.breaker
      if (breaker?.retryAt === undefined) breaker?.begin(requestId)('sick', performance.now())
    },
    health() {
      const now = performance.now()
      const failing = entries.filter(({ breaker }) => breaker.retryAt !== undefined)
      const ready = entries.some(({ breaker }) => (breaker.retryAt ?? now) <= now)
      if (failing.length === 0) return { ready }
      return {
        ready,
        reason: `left out, because they keep failing: ${failing.map(({ member }) => member.name).join(', ')}`,
      }
    },
  })
}

const isUsable = ({ member, breaker }: Entry<Member>, now: number): boolean => breaker.permits(now) && !member.full()

const spread = (milliseconds: number): number => milliseconds * (0.5 + Math.random() * 0.5)

/** Whether it slept to the end; not, when the caller left. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve(!signal.aborted)
    }
    const timer = setTimeout(wake, milliseconds)
    signal.addEventListener('abort', wake)
  })
}
