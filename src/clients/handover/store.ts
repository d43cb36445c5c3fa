import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { logged, loggedValues, within } from '../statements-store.ts'

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

export const namedColumns = 'c.id, c.name, c.reference, c.status'

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
