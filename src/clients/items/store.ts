import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { ItemKind } from './kinds.ts'
import { differs, logged, loggedValues, within, type UpdateResult } from '../statements-store.ts'
import { basisText, type Basis } from '../../platform/http/versions.ts'
import type { PagePosition } from '../../platform/http/input/paging.ts'

export interface PersonJson {
  readonly id: string
  readonly name: string
}

/** A note, dispute, letter, document, task, contact or entry in PostgreSQL's JSON: times are strings. */
export interface ItemJson {
  readonly id: string
  readonly created_at: string
  readonly created_by: string | null
  readonly created_by_name: string | null
  readonly updated_at: string
  readonly updated_by: string | null
  readonly updated_by_name: string | null
  readonly version: number
  readonly archived_at: string | null
  readonly [column: string]: unknown
}

/** The client of an item, if it is within the scope, and the item, if it exists. */
export interface ItemRow {
  readonly consultant_id: string
  readonly status: 'active' | 'archived'
  readonly item: ItemJson | null
}

export interface ItemsRow {
  readonly consultant_id: string
  readonly items: readonly ItemJson[] | null
}

/**
 * Selects the items `n` of one kind of the client `c`, with the names of the people who created and last changed them.
 * Subqueries fetch the names: for a join, the planner would hash all people of the firm on every read of a record.
 */
function itemRow(
  { noun, columns, shown = [], computed = {}, people = [], money = [] }: ItemKind,
  condition: string,
): string {
  const own = [...columns, ...shown].map((column) => (money.includes(column) ? `n.${column}::text` : `n.${column}`))
  const named = ['created_by', 'updated_by', ...people].map((column) => `n.${column}, ${nameOf(column)}`)
  const further = Object.entries(computed).map(([name, expression]) => `${expression} as ${name}`)
  return `select n.id, ${[...own, ...further].join(', ')}, n.created_at, n.updated_at, ${named.join(', ')}, n.version,
      n.archived_at
    from ${noun} n where n.client_id = c.id and ${condition}`
}

const present = 'n.archived_at is null'

const nameOf = (column: string): string =>
  `(select person.name from person where person.id = n.${column}) as ${column}_name`

/** The items of a kind of the client `c`, as a JSON array; by default those that are not archived. */
export function itemsJson(kind: ItemKind, condition = present): string {
  return `(select json_agg(item) from (${itemRow(kind, condition)} order by ${kind.order}) item)`
}

export function readItems(kind: ItemKind, scope: Scope, clientId: string): PreparedStatement<ItemsRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `${kind.plural} ${name}`,
    text: `select c.consultant_id, ${itemsJson(kind)} as items from client c where ${condition} and c.id = $2`,
    values: [value, clientId],
  }
}

/** An item, even if it is archived. */
export function readArchivable(kind: ItemKind, scope: Scope, clientId: string, id: string): PreparedStatement<ItemRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `any ${kind.noun} ${name}`,
    text: `select c.consultant_id, c.status, (select row_to_json(item) from (${itemRow(kind, 'n.id = $3')}) item) as item
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, id],
  }
}

interface ItemWrite {
  readonly visit: Visit
  readonly clientId: string
  readonly id: string
}

/**
 * Inserts nothing if the client is archived or outside the scope, or the item exists. A letter's id is in two unique indexes,
 * and a concurrent insert can violate either of them first: `on conflict` names none.
 */
export function insertItem(
  kind: ItemKind,
  scope: Scope,
  { visit, clientId, id, columns }: ItemWrite & { readonly columns: Readonly<Record<string, unknown>> },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  const { is, action } = createdActions(kind)
  return {
    name: `insert ${kind.noun} ${name}`,
    text: `with changed as (
        insert into ${kind.noun} (id, client_id, ${kind.columns.join(', ')})
        select $3, c.id, ${kind.columns.map((column) => `r.${column}`).join(', ')}
        from client c, jsonb_populate_record(null::${kind.noun}, $4::jsonb) r
        where ${condition} and c.id = $2 and c.status = 'active'
        on conflict do nothing returning id, client_id, version${is})
      ${logged(kind.noun, action, 5)}`,
    values: [value, clientId, id, JSON.stringify(columns), ...loggedValues(visit, Object.keys(columns))],
  }
}

/**
 * Returns no row if the item's version is not in `basis`, or if the client is archived or outside the scope. Writes
 * nothing if the columns already have these values.
 */
export function updateItem(
  kind: ItemKind,
  scope: Scope,
  written: ItemWrite & { readonly basis: Basis; readonly columns: Readonly<Record<string, unknown>> },
): PreparedStatement<UpdateResult> {
  const { visit, clientId, id, basis, columns } = written
  const { condition, value, name } = within(scope)
  const list = kind.columns.join(', ')
  const { was, is, action } = changeAction(kind)
  return {
    name: `update ${kind.noun} ${name}`,
    text: `with here as materialized (
        select n.id${was} from client c, ${kind.noun} n where ${condition} and ${untouched} for no key update of n),
      changed as (
        update ${kind.noun} n set (${list}) = (select ${list} from jsonb_populate_record(n, $5::jsonb)), ${touched}
        from here where n.id = here.id and ${differs('n', kind.columns, '$5')}
        returning n.id, n.client_id, n.version${is}),
      noted as (${logged(kind.noun, action, 6)})
      select exists (select from noted) as changed from here`,
    values: [
      value,
      clientId,
      id,
      basisText(basis),
      JSON.stringify(columns),
      ...loggedValues(visit, Object.keys(columns)),
    ],
  }
}

/** The audit actions of a new item: that it was created, and what its status says. `is` is the column they depend on. */
function createdActions({ noun, statusActions }: ItemKind) {
  const created = `'${noun}_created'`
  if (statusActions === undefined) return { is: '', action: created }
  const byStatus = `case changed.status ${casesOf(statusActions)} end`
  return { is: ', status', action: `unnest(array_remove(array[${created}, ${byStatus}], null))` }
}

const casesOf = (actions: Readonly<Record<string, string>>): string =>
  Object.entries(actions)
    .map(([status, action]) => `when '${status}' then '${action}'`)
    .join(' ')

/** The audit action of a change, with the columns of the row before and after it that it depends on. */
function changeAction({ noun, statusActions }: ItemKind) {
  const changed = `'${noun}_changed'`
  if (statusActions === undefined) return { was: '', is: '', action: changed }
  return {
    was: ', n.status as was',
    is: ', n.status, here.was',
    action: `case nullif(changed.status, changed.was) ${casesOf(statusActions)} else ${changed} end`,
  }
}

/** Archives an item. Its revisions remain. */
export function archiveItem(
  kind: ItemKind,
  scope: Scope,
  { visit, clientId, id, basis }: ItemWrite & { readonly basis: Basis },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `archive ${kind.noun} ${name}`,
    text: `with changed as (
        update ${kind.noun} n set archived_at = record_time(), ${touched}
        from client c where ${condition} and ${untouched}
        returning n.id, n.client_id, n.version)
      ${logged(kind.noun, `'${kind.noun}_archived'`, 5)}`,
    values: [value, clientId, id, basisText(basis), ...loggedValues(visit, [])],
  }
}

const touched = 'version = n.version + 1, updated_at = record_time(), updated_by = portal_person()'
const untouched = `c.id = $2 and c.status = 'active' and n.client_id = c.id and n.id = $3 and n.archived_at is null
  and ($4::int[] is null or n.version = any ($4))`

export interface ItemPageRow extends ItemsRow {
  readonly totals: Readonly<Record<string, unknown>>
}

/** PostgreSQL's type of the column by which a list has pages. */
const keyTypes = { date: 'date', created_at: 'timestamptz' } as const

/**
 * The items of a kind that has pages after a position, the latest first, and the totals of all of them. Archived ones are
 * left out. `unit` is the minor unit of the currency in 10⁻¹².
 */
export function readItemPage(
  kind: ItemKind & Required<Pick<ItemKind, 'pagedBy'>>,
  scope: Scope,
  clientId: string,
  { after, limit, unit }: { readonly after: PagePosition | undefined; readonly limit: number; readonly unit: bigint },
): PreparedStatement<ItemPageRow> {
  const { condition, value, name } = within(scope)
  const totals = Object.entries(kind.totals?.(unit) ?? {}).map(([total, expression]) => `${expression} as ${total}`)
  const { pagedBy: key } = kind
  const rest = `n.archived_at is null and ($3::${keyTypes[key]} is null or (n.${key}, n.id) < ($3, $4::uuid))`
  return {
    name: `page of ${kind.plural} ${name}`,
    text: `select c.consultant_id, (select json_agg(item) from (
        ${itemRow(kind, rest)} order by n.${key} desc, n.id desc limit $5) item) as items,
        (select row_to_json(total) from (
          select ${totals.join(', ')} from ${kind.noun} n where n.client_id = c.id and n.archived_at is null) total) as totals
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, after?.key, after?.id, limit],
  }
}

/** The archived items of a client after a position, latest first. Its key is the time at which an item was archived. */
export function readArchived(
  kind: ItemKind,
  scope: Scope,
  clientId: string,
  { after, limit }: { readonly after: PagePosition | undefined; readonly limit: number },
): PreparedStatement<ItemsRow> {
  const { condition, value, name } = within(scope)
  const rest = 'n.archived_at is not null and ($3::timestamptz is null or (n.archived_at, n.id) < ($3, $4::uuid))'
  return {
    name: `archived ${kind.plural} ${name}`,
    text: `select c.consultant_id, (select json_agg(item) from (
        ${itemRow(kind, rest)} order by n.archived_at desc, n.id desc limit $5) item) as items
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, after?.key, after?.id, limit],
  }
}

/**
 * Returns no row if the item is not archived, if its version is not in `basis`, or if the client is archived or outside the
 * scope. It writes the columns as they are, because the trigger that limits a record watches them.
 */
export function restoreItem(
  kind: ItemKind,
  scope: Scope,
  { visit, clientId, id, basis }: ItemWrite & { readonly basis: Basis },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  const same = kind.columns.map((column) => `${column} = n.${column}`)
  return {
    name: `restore ${kind.noun} ${name}`,
    text: `with changed as (
        update ${kind.noun} n set archived_at = null, ${same.join(', ')}, ${touched}
        from client c where ${condition} and c.id = $2 and c.status = 'active' and n.client_id = c.id and n.id = $3
          and n.archived_at is not null and ($4::int[] is null or n.version = any ($4))
        returning n.id, n.client_id, n.version)
      ${logged(kind.noun, `'${kind.noun}_restored'`, 5)}`,
    values: [value, clientId, id, basisText(basis), ...loggedValues(visit, [])],
  }
}
