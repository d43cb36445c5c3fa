import type { Visit } from '../../access/actor.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { billingNames, type ClientBillingChange } from '../record/billing.ts'
import { logged, loggedValues } from '../statements-store.ts'

/** A client to import, and its line in the file. */
export interface ImportRow extends ClientBillingChange {
  readonly line: number
  readonly id: string
  readonly name: string
  readonly reference: string | null
  readonly email: string | null
  readonly address: string | null
  readonly consultant_id: string
}

const given = `jsonb_to_recordset($1::jsonb) as r(line integer, id uuid, name text, reference text, email text,
  address text, consultant_id uuid, ${billingNames.map((name) => `${name} ${name === 'days_to_pay' ? 'integer' : 'text'}`).join(', ')})`

const written = ['id', 'name', 'reference', 'email', 'address', 'consultant_id', ...billingNames].join(', ')

/** A line whose client the consultant already has, or an earlier line of the file. */
export interface RepeatedRow {
  readonly line: number
  readonly name: string
  /** Whether the consultant has the client. */
  readonly exists: boolean
  /** The first line with the client. */
  readonly first: number
}

/** What tells the clients of a consultant apart. */
const keys = (row: string) => `${row}.consultant_id, lower(${row}.reference) as reference_key,
        case when ${row}.reference is null then lower(regexp_replace(${row}.name, '\\s+', ' ', 'g')) end as name_key`

/**
 * The lines that repeat a client: the same reference, or the same name without a reference. Case and the number of spaces
 * do not matter. Sorts the clients and the lines together, because a join would be planned for a short file.
 */
export function findRepeats(rows: readonly ImportRow[]): PreparedStatement<RepeatedRow> {
  return {
    name: 'import repeats',
    text: `with line as materialized (select r.line, r.name, ${keys('r')} from ${given}),
      keyed as (
        select * from line
        union all
        select null, null, ${keys('c')} from client c
        where c.deleted_at is null and c.consultant_id in (select consultant_id from line)),
      compared as (
        select line, name, count(*) over same > count(line) over same as exists, min(line) over same as first
        from keyed
        window same as (partition by consultant_id, reference_key, name_key))
      select line, name, exists, first from compared where exists and line is not null or line > first order by line`,
    values: [JSON.stringify(rows)],
  }
}

/** Inserts all clients, each with an audit event; none, and returns no row, if a consultant is no longer active. */
export function insertClients(visit: Visit, rows: readonly ImportRow[]): PreparedStatement {
  return {
    name: 'import clients',
    text: `with changed as (
        insert into client (${written})
        select ${written} from ${given}
        where not exists (select from (select distinct consultant_id from ${given}) receiver where not is_active(consultant_id))
        order by line
        returning id, id as client_id, version)
      ${logged('client', `'client_imported'`, 2)}`,
    values: [JSON.stringify(rows), ...loggedValues(visit, [])],
  }
}
