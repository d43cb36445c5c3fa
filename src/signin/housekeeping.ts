import type { Logger } from 'pino'
import { byService } from '../access/actor.ts'
import type { Audit } from '../access/audit.ts'
import type { Database } from '../platform/database/database.ts'
import { repeat, type Repeated } from '../platform/repeat.ts'
import type { Lifetimes } from './sessions.ts'
import * as store from './housekeeping-store.ts'

const minute = 60_000

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly lifetimes: Lifetimes
  /** ms since 1970; `Date.now` unless told. */
  readonly clock?: () => number
}

/** Removes what is over, every minute. Any number of instances may do it at the same time. */
export function startSignInHousekeeping(needs: Needs & { readonly log: Logger }): Repeated {
  return repeat({
    name: 'removing what is over of sign-ins',
    pause: minute,
    work: () => removeOver(needs),
    log: needs.log,
  })
}

/**
 * Removes sessions past a limit, which the audit log is told of, and sign-ins and logout tokens that are over; in
 * batches, passing over what others work on, so that nobody who signs in waits for it.
 */
export async function removeOver({ database, audit, lifetimes, clock = Date.now }: Needs): Promise<void> {
  const now = new Date(clock())
  const unseenSince = new Date(clock() - lifetimes.idle)
  for (let batch = store.mostRows; batch === store.mostRows;) {
    batch = await database.transaction(async (tx) => {
      const over = await store.lockOverSessions(tx, { now, unseenSince })
      await audit.recordWithin(
        tx,
        over.map(({ id, personId, why }) => ({
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
        over.map(({ id }) => id),
      )
      return over.length
    })
  }
  for (const remove of [store.deleteOverAttempts, store.deleteOverLogoutTokens]) {
    while ((await remove(database, now)) === store.mostRows);
  }
}
