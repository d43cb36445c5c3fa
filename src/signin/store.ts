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
