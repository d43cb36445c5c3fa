import type { Role } from '../../access/actor.ts'
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

/** Keeps a session from ending before the transaction does. False if it has ended. */
export async function holdSession(tx: Queryable, id: string): Promise<boolean> {
  return (await tx.rows('select 1 from session where id = $1 for key share', [id])).length > 0
}

/** The address of a person's calendar. `id` is a part of it. */
export interface CalendarRow {
  readonly personId: string
  readonly id: string
}

export async function replaceCalendar(tx: Queryable, { personId, id }: CalendarRow): Promise<void> {
  await tx.rows(
    `insert into calendar_feed (person_id, id) values ($1, $2)
     on conflict (person_id) do update set id = $2, created_at = default, read_at = null`,
    [personId, id],
  )
}

/** False if there is none. */
export async function deleteCalendar(tx: Queryable, personId: string): Promise<boolean> {
  return (await tx.rows('delete from calendar_feed where person_id = $1 returning 1', [personId])).length > 0
}

/** With the person's role; undefined if there is none, or the person may not sign in. */
export async function readCalendar(
  database: Queryable,
  personId: string,
): Promise<(CalendarRow & { readonly role: Role }) | undefined> {
  const [row] = await database.rows<CalendarRow & { readonly role: Role }>(
    `select f.person_id as "personId", f.id, p.role
     from calendar_feed f join person p on p.id = f.person_id and p.status = 'active' where f.person_id = $1`,
    [personId],
  )
  return row
}

/** When the address was made and last read. */
export interface CalendarTimes {
  readonly createdAt: Date
  /** Null: never. */
  readonly readAt: Date | null
}

export async function readCalendarTimes(database: Queryable, personId: string): Promise<CalendarTimes | undefined> {
  const [row] = await database.rows<CalendarTimes>(
    'select created_at as "createdAt", read_at as "readAt" from calendar_feed where person_id = $1',
    [personId],
  )
  return row
}

export async function noteCalendarRead(database: Queryable, personId: string): Promise<void> {
  await database.rows('update calendar_feed set read_at = now() where person_id = $1', [personId])
}

export async function readTaskMail(database: Queryable, personId: string): Promise<boolean> {
  return (await database.rows('select from task_mail where person_id = $1', [personId])).length > 0
}

/** False if it is on already. `today` counts as mailed: turned off and on again, it sends no second mail on a day. */
export async function insertTaskMail(tx: Queryable, personId: string, today: string): Promise<boolean> {
  const rows = await tx.rows(
    'insert into task_mail (person_id, settled_on) values ($1, $2) on conflict (person_id) do nothing returning 1',
    [personId, today],
  )
  return rows.length > 0
}

/** False if it is off already. */
export async function deleteTaskMail(tx: Queryable, personId: string): Promise<boolean> {
  return (await tx.rows('delete from task_mail where person_id = $1 returning 1', [personId])).length > 0
}
