import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { billingNames, type ClientBilling, type ClientBillingChange } from './billing.ts'
import { contacts } from '../contacts/contacts.ts'
import { disputes } from '../items/disputes.ts'
import { documents } from '../documents/documents.ts'
import { expenses } from '../items/expenses.ts'
import { itemsJson, type ItemJson, type PersonJson } from '../items/store.ts'
import type { ItemKind } from '../items/kinds.ts'
import { letters } from '../letters/letters.ts'
import { notes } from '../items/notes.ts'
import {
  deletedWithin,
  differs,
  logged,
  loggedValues,
  personJson,
  within,
  type UpdateResult,
} from '../statements-store.ts'
import { tasks } from '../tasks/tasks.ts'
import { timeEntries } from '../items/time-entries.ts'
import { basisText, type Basis } from '../../platform/http/versions.ts'

export interface ClientRow {
  readonly id: string
  readonly name: string
  readonly reference: string | null
  readonly email: string | null
  readonly address: string | null
  readonly status: 'active' | 'archived'
  readonly consultant_id: string
  readonly consultant_name: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly version: number
  readonly changed_at: Date
}

/** A scheduled erasure in PostgreSQL's JSON: times are strings. */
export interface ErasureJson {
  readonly reason: string
  readonly scheduled_at: string
  readonly scheduled_by: string | null
  readonly scheduled_by_name: string | null
  readonly due_at: string
}

export interface RecordRow extends ClientRow, ClientBilling {
  readonly erasure: ErasureJson | null
  readonly notes: readonly ItemJson[] | null
  readonly disputes: readonly ItemJson[] | null
  readonly letters: readonly ItemJson[] | null
}

export interface WholeRecordRow extends RecordRow {
  readonly documents: readonly ItemJson[] | null
  readonly tasks: readonly ItemJson[] | null
  readonly contacts: readonly ItemJson[] | null
  readonly time_entries: readonly ItemJson[] | null
  readonly expenses: readonly ItemJson[] | null
}

export const clientColumns = `c.id, c.name, c.reference, c.email, c.address, c.status, c.consultant_id,
  p.name as consultant_name, c.created_at, c.updated_at, c.version,
  c.changed_at`

const billingColumns = billingNames.map((name) => `c.${name}`).join(', ')

/** The scheduled erasure of the client `c` as JSON. */
const erasureJson = `(select row_to_json(e) from (
  select e.reason, e.scheduled_at, e.scheduled_by, e.due_at,
    (select person.name from person where person.id = e.scheduled_by) as scheduled_by_name
  from erasure e where e.client_id = c.id and e.withdrawn_at is null) e) as erasure`

/** A client with its notes, disputes and letters. */
export function readRecord(scope: Scope, id: string): PreparedStatement<RecordRow> {
  return recordWith('record', (kind) => itemsJson(kind), ordinaryKinds, { scope, id })
}

/** A client with all its items, including archived ones. */
export function readWholeRecord(scope: Scope, id: string): PreparedStatement<WholeRecordRow> {
  const kinds = [...ordinaryKinds, documents, tasks, contacts, timeEntries(), expenses()]
  return recordWith('whole record', (kind) => itemsJson(kind, 'true'), kinds, { scope, id })
}

/** The items with which a record is read. */
const ordinaryKinds = [notes, disputes, letters]

function recordWith<Row>(
  statement: string,
  items: (kind: ItemKind) => string,
  kinds: readonly ItemKind[],
  { scope, id }: { readonly scope: Scope; readonly id: string },
): PreparedStatement<Row> {
  const { condition, value, name } = within(scope)
  return {
    name: `${statement} ${name}`,
    text: `select ${clientColumns}, ${billingColumns}, ${erasureJson}, ${kinds.map((kind) => `${items(kind)} as ${kind.plural}`).join(', ')}
      from client c join person p on p.id = c.consultant_id where ${condition} and c.id = $2`,
    values: [value, id],
  }
}

/** The consultant of a client; no row if the client is outside the scope. */
export function readOwner(scope: Scope, id: string): PreparedStatement<{ readonly consultant_id: string }> {
  const { condition, value, name } = within(scope)
  return {
    name: `owner ${name}`,
    text: `select c.consultant_id from client c where ${condition} and c.id = $2`,
    values: [value, id],
  }
}

interface ClientStatusRow {
  readonly consultant_id: string
  readonly status: 'active' | 'archived'
}

export function readClientStatus(scope: Scope, id: string): PreparedStatement<ClientStatusRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `status ${name}`,
    text: `select c.consultant_id, c.status from client c where ${condition} and c.id = $2`,
    values: [value, id],
  }
}

/** The writable columns of a client. An absent column keeps its value. */
export interface ClientColumns extends ClientBillingChange {
  readonly name?: string | undefined
  readonly reference?: string | null | undefined
  readonly email?: string | null | undefined
  readonly address?: string | null | undefined
  readonly status?: 'active' | 'archived' | undefined
  readonly consultant_id?: string | undefined
}

/** The columns of a new client besides its id. */
const given = ['name', 'reference', 'email', 'address', ...billingNames, 'consultant_id'].join(', ')

/** Inserts nothing if the id exists, or if the consultant is no longer active. */
export function insertClient(visit: Visit, id: string, columns: ClientColumns): PreparedStatement {
  return {
    name: 'insert client',
    text: `with changed as (
        insert into client (id, ${given})
        select $1::uuid, ${given} from jsonb_populate_record(null::client, $2::jsonb)
        where is_active(consultant_id)
        on conflict (id) do nothing returning id, id as client_id, version)
      ${logged('client', `'client_created'`, 3)}`,
    values: [id, JSON.stringify(columns), ...loggedValues(visit, Object.keys(columns))],
  }
}

/** The columns that every person with access to a client may write. */
const ordinary = ['name', 'reference', 'email', 'address', ...billingNames, 'status']

/**
 * Returns no row if the client is outside the scope, if its version is not in `basis`, if it is archived and the
 * change does not restore it, or if the new consultant is no longer active. Writes nothing if the columns already have
 * these values. Without `assigns`, the statement omits the column `consultant_id`, which consultants may not write.
 */
export function updateClient(
  scope: Scope,
  {
    visit,
    id,
    basis,
    columns,
    assigns,
  }: ChangedClient & { readonly columns: ClientColumns; readonly assigns: boolean },
): PreparedStatement<UpdateResult> {
  const { condition, value, name } = within(scope)
  const written = assigns ? [...ordinary, 'consultant_id'] : ordinary
  const list = written.join(', ')
  return {
    name: `update client ${name} ${assigns}`,
    text: `with here as materialized (
        select c.id, c.consultant_id, c.status from client c
        where ${condition} and c.id = $2 and ($3::int[] is null or c.version = any ($3))
          and (c.status = 'active' or $4::jsonb ? 'status')
          and (not $4::jsonb ? 'consultant_id' or is_active(($4::jsonb ->> 'consultant_id')::uuid))
        for no key update),
      changed as (
        update client c set (${list}) = (select ${list} from jsonb_populate_record(c, $4::jsonb)), ${touched}
        from here where c.id = here.id and ${differs('c', written, '$4')}
        returning c.id, c.id as client_id, c.version, c.consultant_id <> here.consultant_id as assigned,
          nullif(c.status, here.status) as turned),
      noted as (${logged('client', changeActions, 5)})
      select exists (select from noted) as changed from here`,
    values: [value, id, basisText(basis), JSON.stringify(columns), ...loggedValues(visit, Object.keys(columns))],
  }
}

/** The audit actions of a change. One that assigns and archives a client has both; each names all its fields. */
const changeActions = `unnest(case
  when changed.assigned or changed.turned is not null then array_remove(array[
    case when changed.assigned then 'client_assigned' end,
    case changed.turned when 'archived' then 'client_archived' when 'active' then 'client_unarchived' end], null)
  else array['client_changed'] end)`

/** Marks a client as deleted. Its revisions remain. */
export function deleteClient(scope: Scope, { visit, id, basis }: ChangedClient): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `delete client ${name}`,
    text: `with changed as (
        update client c set deleted_at = record_time(), ${touched}
        where ${condition} and c.id = $2 and ($3::int[] is null or c.version = any ($3))
        returning c.id, c.id as client_id, c.version)
      ${logged('client', `'client_removed'`, 4)}`,
    values: [value, id, basisText(basis), ...loggedValues(visit, [])],
  }
}

/** Returns no row if the client is not deleted. */
export function restoreClient(scope: Scope, visit: Visit, id: string): PreparedStatement {
  const { condition, value, name } = deletedWithin(scope)
  return {
    name: `restore client ${name}`,
    text: `with changed as (
        update client c set deleted_at = null, ${touched}
        where ${condition} and c.id = $2
        returning c.id, c.id as client_id, c.version)
      ${logged('client', `'client_restored'`, 3)}`,
    values: [value, id, ...loggedValues(visit, [])],
  }
}

interface ChangedClient {
  readonly visit: Visit
  readonly id: string
  readonly basis: Basis
}

const touched = 'version = c.version + 1, updated_at = record_time()'

/** A person that a client can be assigned to. */
export function readActivePerson(id: string): PreparedStatement<PersonJson> {
  return {
    name: 'active person',
    text: `select id, name from person where id = $1 and is_active(id)`,
    values: [id],
  }
}

export interface RevisionRow {
  readonly version: number
  readonly at: Date
  readonly by: PersonJson | null
  readonly archived: boolean
  readonly data: Readonly<Record<string, unknown>>
  /** The client's consultant at that time; null for an item. */
  readonly consultant: PersonJson | null
}

/** The revisions of a client or item before a version, newest first. */
export function readRevisions(
  scope: Scope,
  clientId: string,
  { noun, id, before, limit }: { noun: string; id: string; before: string | undefined; limit: number },
): PreparedStatement<RevisionRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `revisions ${name}`,
    text: `select r.version, r.at, ${personJson('a')} as by, r.archived, r.data, ${personJson('k')} as consultant
      from client c join revision r on r.client_id = c.id left join person a on a.id = r.person_id
        left join person k on k.id = (r.data ->> 'consultant_id')::uuid
      where ${condition} and c.id = $2 and r.noun = $3 and r.noun_id = $4
        and r.version < coalesce($5::int, 2147483647)
      order by r.version desc limit $6`,
    values: [value, clientId, noun, id, before, limit],
  }
}

/** The number of active clients of each consultant. */
export function countByConsultant(
  scope: Scope,
): PreparedStatement<{ readonly consultant_id: string; readonly clients: number }> {
  const { condition, value, name } = within(scope)
  return {
    name: `counts ${name}`,
    text: `select c.consultant_id, count(*)::int as clients from client c
      where ${condition} and c.status = 'active' group by 1`,
    values: [value],
  }
}

/** One row if the client exists and is not deleted. */
export function clientExists(id: string): PreparedStatement {
  return {
    name: 'client exists',
    text: 'select true as found from client c where c.id = $1 and c.deleted_at is null',
    values: [id],
  }
}
