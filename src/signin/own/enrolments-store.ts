import type { Queryable } from '../../platform/database/database.ts'
import type { AttemptData } from '../methods/method.ts'

/** Names the set-up of a second factor in a session. */
export interface EnrolmentKey {
  readonly sessionId: string
  readonly factor: string
}

/** Replaces any earlier start in the session. */
export async function insertEnrolment(
  database: Queryable,
  { sessionId, factor }: EnrolmentKey,
  { data, expiresAt }: { readonly data: AttemptData; readonly expiresAt: Date },
): Promise<void> {
  await database.rows(
    `insert into enrolment (session_id, factor, data, expires_at) values ($1, $2, $3, $4)
     on conflict (session_id) do update set factor = $2, data = $3, expires_at = $4, tries = 0`,
    [sessionId, factor, JSON.stringify(data), expiresAt],
  )
}

/** Counts a submission; undefined if nothing was begun, it has expired, or no tries are left. */
export async function tryEnrolment(
  database: Queryable,
  { sessionId, factor }: EnrolmentKey,
  { now, maxTries }: { readonly now: Date; readonly maxTries: number },
): Promise<{ readonly data: AttemptData; readonly triesLeft: number } | undefined> {
  const [row] = await database.rows<{ data: AttemptData; triesLeft: number }>(
    `update enrolment set tries = tries + 1
     where session_id = $1 and factor = $2 and expires_at > $3 and tries < $4
     returning data, $4 - tries as "triesLeft"`,
    [sessionId, factor, now, maxTries],
  )
  return row
}

/** Uses it up. False if it was used up: of several at once, one succeeds. */
export async function deleteEnrolment(tx: Queryable, { sessionId, factor }: EnrolmentKey): Promise<boolean> {
  const rows = await tx.rows('delete from enrolment where session_id = $1 and factor = $2 returning 1', [
    sessionId,
    factor,
  ])
  return rows.length > 0
}
