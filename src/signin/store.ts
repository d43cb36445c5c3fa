import type { Queryable } from '../platform/database/database.ts'

/** Whether one of the tables has a row of the person. */
export async function hasRow(database: Queryable, tables: readonly string[], personId: string): Promise<boolean> {
  const found = tables.map((table) => `exists (select from ${table} where person_id = $1)`).join(' or ')
  const [row] = await database.rows<{ found: boolean }>(`select ${found} as found`, [personId])
  return row?.found === true
}

/** Deletes the rows of a person. Returns how many there were. */
export async function deleteRows(tx: Queryable, tables: readonly string[], personId: string): Promise<number> {
  let deleted = 0
  for (const table of tables) {
    deleted += (await tx.rows(`delete from ${table} where person_id = $1 returning 1`, [personId])).length
  }
  return deleted
}

/** Rows per statement. */
export const batchSize = 1000

export interface ExpiredSession {
  readonly id: string
  readonly personId: string
  readonly why: 'idle' | 'absolute'
}

/** Locks expired sessions until the transaction ends; skips rows that are locked already. */
export function lockExpiredSessions(
  tx: Queryable,
  { now, unseenSince }: { readonly now: Date; readonly unseenSince: Date },
): Promise<ExpiredSession[]> {
  return tx.rows(
    `select id, person_id as "personId", case when ends_at <= $1 then 'absolute' else 'idle' end as why
     from session where ends_at <= $1 or last_seen_at <= $2 limit ${batchSize} for update skip locked`,
    [now, unseenSince],
  )
}

export async function deleteSessionsById(tx: Queryable, ids: readonly string[]): Promise<void> {
  await tx.rows('delete from session where id = any($1::uuid[])', [ids])
}

/** Returns the number of rows. */
export async function deleteExpired(database: Queryable, table: string, now: Date): Promise<number> {
  const rows = await database.rows(
    `delete from ${table} where ctid = any(array(
       select ctid from ${table} where expires_at <= $1 limit ${batchSize} for update skip locked))
     returning 1`,
    [now],
  )
  return rows.length
}
