import type { Queryable } from '../platform/database/database.ts'

/** Rows that one statement takes. */
export const mostRows = 1000

export interface OverSession {
  readonly id: string
  readonly personId: string
  readonly why: 'idle' | 'absolute'
}

/** Sessions past a limit that nobody else works on; locked until the transaction ends. */
export function lockOverSessions(
  tx: Queryable,
  { now, unseenSince }: { readonly now: Date; readonly unseenSince: Date },
): Promise<OverSession[]> {
  return tx.rows(
    `select id, person_id as "personId", case when ends_at <= $1 then 'absolute' else 'idle' end as why
     from session where ends_at <= $1 or last_seen_at <= $2 limit ${mostRows} for update skip locked`,
    [now, unseenSince],
  )
}

export async function deleteSessionsById(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.rows('delete from session where id = any($1::uuid[])', [ids])
}

/** Returns how many. */
export function deleteOverAttempts(database: Queryable, now: Date): Promise<number> {
  return deleteOver(database, 'sign_in_attempt', now)
}

/** Returns how many. */
export function deleteOverLogoutTokens(database: Queryable, now: Date): Promise<number> {
  return deleteOver(database, 'logout_token', now)
}

async function deleteOver(database: Queryable, table: 'sign_in_attempt' | 'logout_token', now: Date): Promise<number> {
  const rows = await database.rows(
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where expires_at <= $1 limit ${mostRows} for update skip locked))
     returning 1`,
    [now],
  )
  return rows.length
}
