import type { PreparedStatement } from '../platform/database/pipeline.ts'

/** Whether the transaction has the role of a partner. */
export const readPartner: PreparedStatement<{ readonly partner: boolean }> = {
  name: 'usage reader',
  text: `select current_user = portal_role('partner') as partner`,
}

/** The names of clients, by id. `ids` is an array of UUIDs as text. */
export function readClientNames(ids: string): PreparedStatement<{ readonly id: string; readonly name: string }> {
  return { name: 'usage clients', text: 'select id, name from client where id = any($1::text::uuid[])', values: [ids] }
}
