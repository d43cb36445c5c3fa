import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { namedColumns, type NamedClient } from './store.ts'
import type { PersonJson } from '../items/store.ts'
import { logged, loggedValues, personJson, within } from '../statements-store.ts'

/** A client to hand over, in the version that was selected. */
export interface SelectedClient {
  readonly id: string
  readonly version: number
}

export interface SelectedOutcome {
  /** Selected clients that do not exist, or are outside the scope. */
  readonly missing: number
  /** Selected clients that have another version now. */
  readonly changed: number
  readonly handed_over: number
}

const selected = `selected as (
    select distinct id, version from jsonb_to_recordset($2::jsonb) as given (id uuid, version int))`

/**
 * Assigns the selected clients to a person, who must be active, each with its revision and its audit event; none of them if any
 * is missing or has another version. Clients that this person has already stay as they are.
 */
export function handOverSelected(
  scope: Scope,
  visit: Visit,
  { clients, to }: { readonly clients: readonly SelectedClient[]; readonly to: string },
): PreparedStatement<SelectedOutcome> {
  const { condition, value, name } = within(scope)
  return {
    name: `hand over selected ${name}`,
    text: `with ${selected},
      here as materialized (
        select c.id, c.consultant_id, c.version = selected.version as is_current
        from client c join selected on selected.id = c.id where ${condition} order by c.id for no key update of c),
      changed as (
        update client c set consultant_id = $3, version = c.version + 1, updated_at = record_time()
        from here where c.id = here.id and here.consultant_id <> $3
          and (select count(*) from here where is_current) = (select count(*) from selected)
          and is_active($3)
        returning c.id, c.id as client_id, c.version),
      noted as (${logged('client', `'client_assigned'`, 4)})
      select ((select count(*) from selected) - (select count(*) from here))::int as missing,
        (select count(*) from here where not is_current)::int as changed, (select count(*) from noted)::int as handed_over`,
    values: [value, JSON.stringify(clients), to, ...loggedValues(visit, ['consultant_id'])],
  }
}

export interface AssignedClient extends NamedClient {
  readonly version: number
  readonly consultant: PersonJson
}

/** The selected clients that have another version now, by name. */
export function readChangedSelected(
  scope: Scope,
  clients: readonly SelectedClient[],
): PreparedStatement<AssignedClient> {
  const { condition, value, name } = within(scope)
  return {
    name: `changed since selected ${name}`,
    text: `with ${selected}
      select ${namedColumns}, c.version, ${personJson('p')} as consultant
      from client c join selected on selected.id = c.id join person p on p.id = c.consultant_id
      where ${condition} and c.version <> selected.version order by c.sort_key, c.id`,
    values: [value, JSON.stringify(clients)],
  }
}

/** The selected clients whose reference another selected client, or a client of the receiving person, has too. */
export function readSharedBySelected(
  scope: Scope,
  clients: readonly SelectedClient[],
  to: string,
  limit: number,
): PreparedStatement<NamedClient> {
  const { condition, value, name } = within(scope)
  return {
    name: `selected references ${name}`,
    text: `with ${selected}
      select ${namedColumns} from client c join selected on selected.id = c.id
      where ${condition} and c.consultant_id <> $3 and c.reference is not null and exists (
        select from client other where other.id <> c.id and other.reference_key = c.reference_key
          and other.deleted_at is null
          and (other.consultant_id = $3 or other.id in (select id from selected)))
      order by c.sort_key, c.id limit $4`,
    values: [value, JSON.stringify(clients), to, limit],
  }
}
