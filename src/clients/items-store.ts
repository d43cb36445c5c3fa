import type { Visit } from '../access/actor.ts'
import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { Kind } from './kinds.ts'
import { logged, loggedValues } from './logged-store.ts'
import { differs, within, type Change } from './statements.ts'
import { basisText, type Basis } from './versions.ts'

/** A person as JSON. */
export interface PersonJson {
  readonly id: string
  readonly name: string
}

/** A note, dispute or letter as PostgreSQL writes it in JSON. Times are texts. */
export interface ItemJson {
  readonly id: string
  readonly created_at: string
  readonly created_by: string | null
  readonly created_by_name: string | null
  readonly updated_at: string
  readonly updated_by: string | null
  readonly updated_by_name: string | null
  readonly version: number
  readonly [column: string]: unknown
}

/** The client of an item, where the visit may see that, and the item, where it is there. */
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
 * The items of a kind that the client `c` has or had, each `n`, with the names of who made it and changed it last. They
 * are looked up one by one: of a join the planner would make a hash of everybody in the firm, for every record that is
 * read.
 */
function itemRow({ noun, columns, shown = [], money = [] }: Kind, condition: string): string {
  const own = [...columns, ...shown].map((column) => (money.includes(column) ? `n.${column}::text` : `n.${column}`))
  return `select n.id, ${own.join(', ')}, n.created_at, n.created_by, ${nameOf('created_by')}, n.updated_at,
      n.updated_by, ${nameOf('updated_by')}, n.version
    from ${noun} n where n.client_id = c.id and ${condition}`
}

const present = 'n.archived_at is null'

const nameOf = (column: string): string =>
  `(select person.name from person where person.id = n.${column}) as ${column}_name`

/** All items of a kind that the client `c` has. */
export function itemsJson(kind: Kind): string {
  return `(select json_agg(item) from (${itemRow(kind, present)} order by ${kind.order}) item)`
}

export function readItems(kind: Kind, scope: Scope, clientId: string): PreparedStatement<ItemsRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `${kind.plural} ${name}`,
    text: `select c.consultant_id, ${itemsJson(kind)} as items from client c where ${condition} and c.id = $2`,
    values: [value, clientId],
  }
}

export function readItem(kind: Kind, scope: Scope, clientId: string, id: string): PreparedStatement<ItemRow> {
  return oneItem(kind.noun, itemRow(kind, `${present} and n.id = $3`), scope, { clientId, id })
}

/** An item that was made, also where it was taken off the record since. */
export function readMade(kind: Kind, scope: Scope, clientId: string, id: string): PreparedStatement<ItemRow> {
  return oneItem(`made ${kind.noun}`, itemRow(kind, 'n.id = $3'), scope, { clientId, id })
}

function oneItem(
  statement: string,
  row: string,
  scope: Scope,
  { clientId, id }: { readonly clientId: string; readonly id: string },
): PreparedStatement<ItemRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `${statement} ${name}`,
    text: `select c.consultant_id, c.status, (select row_to_json(item) from (${row}) item) as item
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId, id],
  }
}

/** What is written, and by what. */
interface Written {
  readonly visit: Visit
  readonly clientId: string
  readonly id: string
}

/** Writes nothing where the client is archived or out of reach, or the item is there already. */
export function insertItem(
  kind: Kind,
  scope: Scope,
  { visit, clientId, id, columns }: Written & { readonly columns: Readonly<Record<string, unknown>> },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `insert ${kind.noun} ${name}`,
    text: `with changed as (
        insert into ${kind.noun} (id, client_id, ${kind.columns.join(', ')})
        select $3, c.id, ${kind.columns.map((column) => `r.${column}`).join(', ')}
        from client c, jsonb_populate_record(null::${kind.noun}, $4::jsonb) r
        where ${condition} and c.id = $2 and c.status = 'active'
        on conflict (id) do nothing returning id, client_id, version)
      ${logged(kind.noun, `'${kind.noun}_created'`, 5)}`,
    values: [value, clientId, id, JSON.stringify(columns), ...loggedValues(visit, Object.keys(columns))],
  }
}

/**
 * No row where the item has none of the versions, or where the client is archived or out of reach. Writes nothing where
 * the columns are there already.
 */
export function updateItem(
  kind: Kind,
  scope: Scope,
  written: Written & { readonly basis: Basis; readonly columns: Readonly<Record<string, unknown>> },
): PreparedStatement<Change> {
  const { visit, clientId, id, basis, columns } = written
  const { condition, value, name } = within(scope)
  const list = kind.columns.join(', ')
  return {
    name: `update ${kind.noun} ${name}`,
    text: `with here as materialized (
        select n.id from client c, ${kind.noun} n where ${condition} and ${untouched} for no key update of n),
      changed as (
        update ${kind.noun} n set (${list}) = (select ${list} from jsonb_populate_record(n, $5::jsonb)), ${touched}
        from here where n.id = here.id and ${differs('n', kind.columns, '$5')}
        returning n.id, n.client_id, n.version),
      noted as (${logged(kind.noun, `'${kind.noun}_changed'`, 6)})
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

/** Takes an item off the record; its revisions stay. */
export function archiveItem(
  kind: Kind,
  scope: Scope,
  { visit, clientId, id, basis }: Written & { readonly basis: Basis },
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
