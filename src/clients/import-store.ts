import type { Visit } from '../access/actor.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { logged, loggedValues } from './logged-store.ts'

/** A client to import, and its line in the file. */
export interface ImportRow {
  readonly line: number
  readonly id: string
  readonly name: string
  readonly reference: string | null
  readonly email: string | null
  readonly address: string | null
  readonly consultant_id: string
}

const given = `jsonb_to_recordset($1::jsonb) as r(line integer, id uuid, name text, reference text, email text,
  address text, consultant_id uuid)`

/** The lines whose client the consultant already has: the same reference, or the same name without a reference. */
export function findDuplicates(
  rows: readonly ImportRow[],
): PreparedStatement<{ readonly line: number; readonly name: string }> {
  return {
    name: 'import duplicates',
    text: `select distinct r.line, r.name from ${given}
      join client c on c.consultant_id = r.consultant_id and c.deleted_at is null
        and (r.reference is not null and c.reference_key = lower(r.reference)
          or r.reference is null and c.reference is null and c.sort_key = left(words(r.name), 200))
      order by r.line`,
    values: [JSON.stringify(rows)],
  }
}

/** Inserts all clients, each with an audit event; none, and returns no row, if a consultant is no longer active. */
export function insertClients(visit: Visit, rows: readonly ImportRow[]): PreparedStatement {
  return {
    name: 'import clients',
    text: `with changed as (
        insert into client (id, name, reference, email, address, consultant_id)
        select id, name, reference, email, address, consultant_id from ${given}
        where not exists (select from ${given} where not exists (
          select from person p where p.id = r.consultant_id and p.status = 'active'))
        order by line
        returning id, id as client_id, version)
      ${logged('client', `'client_imported'`, 2)}`,
    values: [JSON.stringify(rows), ...loggedValues(visit, [])],
  }
}
