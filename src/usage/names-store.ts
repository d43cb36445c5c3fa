import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'

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

/** Whether the transaction has the role of a partner. */
export const readPartner: PreparedStatement<{ readonly partner: boolean }> = {
  name: 'usage reader',
  text: `select current_user = portal_role('partner') as partner`,
}

/** The names of clients, by id. `ids` is an array of UUIDs as text. */
export function readClientNames(ids: string): PreparedStatement<{ readonly id: string; readonly name: string }> {
  return { name: 'usage clients', text: 'select id, name from client where id = any($1::text::uuid[])', values: [ids] }
}
