import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { PersonJson } from '../items/store.ts'
import { logged, loggedValues, personJson, within } from '../statements-store.ts'

/** Whose clients are handed over to whom. */
export interface HandoverParties {
  readonly from: string
  readonly to: string
}

export interface HandoverCount {
  readonly active: number
  readonly archived: number
}

/** The number of clients of a person, including archived ones. */
export function countClientsOf(scope: Scope, personId: string): PreparedStatement<HandoverCount> {
  const { condition, value, name } = within(scope)
  return {
    name: `handover count ${name}`,
    text: `select count(*) filter (where c.status = 'active')::int as active,
        count(*) filter (where c.status = 'archived')::int as archived
      from client c where ${condition} and c.consultant_id = $2`,
    values: [value, personId],
  }
}

export interface NamedClient {
  readonly id: string
  readonly name: string
  readonly reference: string | null
  readonly status: 'active' | 'archived'
}

const namedColumns = 'c.id, c.name, c.reference, c.status'

/** The first clients of a person, by name, active ones first. */
export function readClientsOf(scope: Scope, personId: string, limit: number): PreparedStatement<NamedClient> {
  const { condition, value, name } = within(scope)
  return {
    name: `handover clients ${name}`,
    text: `select ${namedColumns} from client c where ${condition} and c.consultant_id = $2
      order by c.status, c.sort_key, c.id limit $3`,
    values: [value, personId, limit],
  }
}

/** The clients whose reference a client of the receiving person already has. */
export function readSharedReferences(
  scope: Scope,
  { from, to }: HandoverParties,
  limit: number,
): PreparedStatement<NamedClient> {
  const { condition, value, name } = within(scope)
  return {
    name: `handover references ${name}`,
    text: `select ${namedColumns} from client c
      where ${condition} and c.consultant_id = $2 and c.reference is not null and exists (
        select from client other where other.consultant_id = $3 and other.reference is not null
          and other.reference_key = c.reference_key and other.deleted_at is null)
      order by c.sort_key, c.id limit $4`,
    values: [value, from, to, limit],
  }
}

/**
 * Assigns every client of a person to another, who must be active, each with its revision and its audit event. Returns a
 * row for each.
 */
export function handOverClients(scope: Scope, visit: Visit, { from, to }: HandoverParties): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `hand over ${name}`,
    text: `with here as materialized (
        select c.id from client c
        where ${condition} and c.consultant_id = $2
          and is_active($3)
        order by c.id for no key update),
      changed as (
        update client c set consultant_id = $3, version = c.version + 1, updated_at = record_time()
        from here where c.id = here.id returning c.id, c.id as client_id, c.version)
      ${logged('client', `'client_assigned'`, 4)}`,
    values: [value, from, to, ...loggedValues(visit, ['consultant_id'])],
  }
}

/** A client to hand over, in the version that was selected. */
export interface SelectedClient {
  readonly id: string
  readonly version: number
}

interface SelectedOutcome {
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

interface AssignedClient extends NamedClient {
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
