import type { Queryable } from '../../platform/database/database.ts'
import type { AttemptData } from '../methods/method.ts'

/** What a person has begun in a session: to set up a second factor, or to show one. */
export type Begun = 'enrolment' | 'confirmation'

export interface BegunKey {
  readonly sessionId: string
  readonly factor: string
}

/** Replaces any earlier start in the session. */
export async function insertBegun(
  database: Queryable,
  table: Begun,
  { sessionId, factor }: BegunKey,
  { data, expiresAt }: { readonly data: AttemptData; readonly expiresAt: Date },
): Promise<void> {
  await database.rows(
    `insert into ${table} (session_id, factor, data, expires_at) values ($1, $2, $3, $4)
     on conflict (session_id) do update set factor = $2, data = $3, expires_at = $4, tries = 0`,
    [sessionId, factor, JSON.stringify(data), expiresAt],
  )
}

/** Counts a submission; undefined if nothing was begun, it has expired, or no tries are left. */
export async function tryBegun(
  database: Queryable,
  table: Begun,
  { sessionId, factor }: BegunKey,
  { now, maxTries }: { readonly now: Date; readonly maxTries: number },
): Promise<{ readonly data: AttemptData; readonly triesLeft: number } | undefined> {
  const [row] = await database.rows<{ data: AttemptData; triesLeft: number }>(
    `update ${table} set tries = tries + 1
     where session_id = $1 and factor = $2 and expires_at > $3 and tries < $4
     returning data, $4 - tries as "triesLeft"`,
    [sessionId, factor, now, maxTries],
  )
  return row
}

/** Uses it up. False if it was used up: of several at once, one succeeds. */
export async function deleteBegun(tx: Queryable, table: Begun, { sessionId, factor }: BegunKey): Promise<boolean> {
  const rows = await tx.rows(`delete from ${table} where session_id = $1 and factor = $2 returning 1`, [
    sessionId,
    factor,
  ])
  return rows.length > 0
}

/** A sign-in as the audit log has it. */
export interface SignInRow {
  /** The session that it started. */
  readonly sessionId: string
  readonly at: Date
  /** The id of the method. */
  readonly method: string
  /** The browser; null if it is unknown. */
  readonly device: string | null
  readonly address: string | null
}

/** The newest sign-ins of a person. */
export function readSignIns(database: Queryable, personId: string, limit: number): Promise<SignInRow[]> {
  return database.rows(
    `select noun_id as "sessionId", at, details ->> 'method' as method, details ->> 'device' as device, address
     from audit where person_id = $1 and action = 'sign_in' order by id desc limit $2`,
    [personId, limit],
  )
}
