import type { Queryable } from '../../platform/database/database.ts'

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
