import type { Audit, AuditEntry } from '../../access/audit/audit.ts'
import type { Queryable } from '../../platform/database/database.ts'
import * as store from './store.ts'

export interface SessionEnd {
  readonly which: store.Selection
  /** People who lose what they have not completed even if none of these sessions is theirs. */
  readonly people?: readonly string[]
  readonly entryOf: (session: store.EndedSession) => AuditEntry
}

/**
 * Ends sessions before their time, with an audit row each. Their people also lose the sign-ins that wait for a second
 * factor, the factors and providers that they have begun to add, and mailed links. If it is all or all other sessions of someone, the
 * address of their calendar ends, too.
 *
 * The sign-ins end first: one that completes meanwhile has committed its session by then, so that it is found here.
 */
export async function endSessions(
  tx: Queryable,
  { recordWithin }: Pick<Audit, 'recordWithin'>,
  { which, people = [], entryOf }: SessionEnd,
): Promise<store.EndedSession[]> {
  const isAll = Object.values(which).every((condition) => condition === undefined)
  const owner = which.personId !== undefined && which.id === undefined ? [which.personId] : []
  // A provider that names no session ends all of the person's (OpenID Connect Back-Channel Logout 1.0, section 2.4).
  const ofProvider = which.subject !== undefined && which.sid === undefined ? people : []
  const owners = isAll ? null : [...people, ...owner, ...(await store.readPeopleOf(tx, which))]
  await store.endUnfinishedSignIns(tx, owners)
  const ended = await store.deleteSessions(tx, which)
  // After the sessions: an address that is being created holds its session until it can be seen here.
  await store.deleteCalendarFeeds(tx, isAll ? null : [...owner, ...ofProvider])
  await recordWithin(tx, ended.map(entryOf))
  return ended
}
