import { byService } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Database } from '../platform/database/database.ts'
import { methods } from './methods/methods.ts'
import type { Lifetimes } from './session/sessions.ts'
import * as store from './store.ts'

/** The tables whose rows mean nothing once they have expired. */
const expiringTables = [
  'sign_in_attempt',
  'throttle',
  'known_network',
  'known_browser',
  ...methods.flatMap(({ tables }) => tables.expiring ?? []),
]

export interface RemovalNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly lifetimes: Lifetimes
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/**
 * Removes expired sessions, each with an audit row, and the expired rows of other tables. It works in batches and skips
 * locked rows, so that it never blocks a sign-in.
 */
export async function removeExpired({ database, audit, lifetimes, clock = Date.now }: RemovalNeeds): Promise<void> {
  const now = new Date(clock())
  const unseenSince = new Date(clock() - lifetimes.idle)
  for (let batch = store.batchSize; batch === store.batchSize;) {
    batch = await database.transaction(async (tx) => {
      const expired = await store.lockExpiredSessions(tx, { now, unseenSince })
      await audit.recordWithin(
        tx,
        expired.map(({ id, personId, why }) => ({
          ...byService,
          action: 'session_expired',
          outcome: 'allowed',
          noun: 'session',
          nounId: id,
          details: { of: personId, why },
        })),
      )
      await store.deleteSessionsById(
        tx,
        expired.map(({ id }) => id),
      )
      return expired.length
    })
  }
  for (const table of expiringTables) {
    while ((await store.deleteExpired(database, table, now)) === store.batchSize);
  }
}
