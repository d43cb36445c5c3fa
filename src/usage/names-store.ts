import type { Queryable } from '../platform/database/database.ts'

/** The names of accounts, keys and people, by id. Ids of other things have no name. */
export async function readNames(database: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.rows<{ id: string; name: string }>(
    `select id, name from account where id = any($1::uuid[])
     union all select id, name from api_key where id = any($1::uuid[])
     union all select id, name from person where id = any($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
