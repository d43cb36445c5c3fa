import { randomUUIDv7 } from 'node:crypto'
import type { RequestOrigin } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit/audit.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { hashOf, newSecret, sessionHashes } from './cookies.ts'
import * as store from './store.ts'

/** A completed sign-in. */
export interface NewSession {
  readonly personId: string
  readonly method: string
  readonly factors: readonly string[]
  /** The browser, such as "Firefox on Linux". */
  readonly device?: string
  readonly network?: string
  readonly provider?: store.ProviderSession
  /** When the person proved who they are; null if that is unknown. Default now. */
  readonly provenAt?: Date | null
  /** The Cookie header of the request: the browser's previous session ends. */
  readonly replaces?: string | undefined
  readonly request?: RequestOrigin
  /** Runs in the transaction, with the person's row locked. Throws Problem if the proof no longer holds. */
  readonly confirm?: ((tx: Queryable) => Promise<void>) | undefined
}

export interface StartedSession {
  readonly id: string
  readonly value: string
}

interface Limits {
  readonly now: number
  /** ms from the start to the end at the latest. */
  readonly absolute: number
}

/** Inserts a session with a new value. Returns it with its audit entries, which belong in the same transaction. */
export async function startSession(
  tx: Queryable,
  session: NewSession,
  { now, absolute }: Limits,
): Promise<{ readonly started: StartedSession; readonly entries: readonly AuditEntry[] }> {
  const { personId, method, factors, device = '', network = '', provider, request, provenAt = new Date(now) } = session
  const [id, value] = [randomUUIDv7(), newSecret()]
  const inserted = await store.insertSession(tx, {
    hash: hashOf(value),
    id,
    personId,
    method,
    factors,
    device,
    network,
    at: new Date(now),
    provenAt,
    endsAt: new Date(now + absolute),
    provider,
  })
  if (!inserted) throw new Problem('sign_in_refused', 'You may not sign in here. Ask a partner of the firm.')
  await session.confirm?.(tx)
  // After the person, as in a change of their role: the other order would deadlock.
  const known = sessionHashes(session.replaces)
  const replaced = known.length === 0 ? [] : await store.deleteSessions(tx, { hashes: known })
  const details = { method, factors: factors.join(' '), ...(device !== '' && { device }) }
  const why = { why: 'another sign-in in the same browser' }
  const entries = [
    { ...request, action: 'sign_in', ...byOwner({ id, personId }), details },
    ...replaced.map((old) => ({ ...request, action: 'session_ended', ...byOwner(old), details: why })),
  ]
  return { started: { id, value }, entries }
}

/** The common part of an entry about a session that its own person started or ended. */
export function byOwner({ id, personId }: Pick<store.EndedSession, 'id' | 'personId'>) {
  return { actor: { kind: 'person', id: personId }, outcome: 'allowed', noun: 'session', nounId: id } as const
}
