import type { Scope } from '../../access/policy.ts'
import { parseIsoTime } from '../../platform/text/calendar.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { PagePosition } from '../../platform/http/input/paging.ts'
import type { ClientQuery } from '../schema.ts'
import {
  anyMatches,
  bestFirst,
  firstMatches,
  firstOf,
  nearestOf,
  placedAmongFew,
  reach,
  statusIn,
  type ClientOrder,
} from '../search/match-store.ts'
import { deletedWithin, within } from '../statements-store.ts'
import { clientColumns, type ClientRow } from '../record/store.ts'

export interface ListedRow extends ClientRow {
  readonly open_disputes: number
  /** The sort key of the row, for cursors. */
  readonly key: string
}

/** Whether PostgreSQL accepts it as text: well-formed, without NUL. */
const isPlainText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** A time as PostgreSQL writes it in UTC: `2026-03-12 10:00:00.5+00`. */
const isTime = (text: string) =>
  /^\S{10} \S+\+00$/.test(text) && parseIsoTime(text.replace(' ', 'T').replace('+00', 'Z')) !== undefined

/** The sort keys: the column, its type, and the texts that are valid keys. */
const keys = {
  name: { column: 'c.sort_key', type: 'text', isValid: isPlainText },
  reference: { column: 'c.reference_key', type: 'text', isValid: isPlainText },
  changed_at: { column: 'c.changed_at', type: 'timestamptz', isValid: isTime },
} as const

/** The test whether a text can be the key in a cursor. */
export function keyTest(sort: ListPage['sort']): (text: string) => boolean {
  const { isValid } = keys[sortKey(sort)]
  return sort === 'best' ? (text) => placed.test(text) && isValid(text) : isValid
}

/** The sort key of a match: its place and its name. */
const placed = /^[1-4] /

type SortKey = keyof typeof keys

export interface ListFilter {
  readonly q: string | undefined
  readonly status: 'active' | 'archived' | 'all' | 'deleted'
  readonly consultantId: string | undefined
}

export interface ListPage {
  /** `best`: by the place of a match, then by name. */
  readonly sort: NonNullable<ClientQuery['sort']> | 'best'
  readonly after: PagePosition | undefined
  readonly limit: number
}

const openDisputes = `(select count(*) from dispute d
  where d.client_id = c.id and d.status = 'open' and d.archived_at is null)::int as open_disputes`

/** One row more than the largest page. A constant, since the planner would sort the whole table for an unknown limit. */
const mostRows = '201'

/** One page of a list. The `key` and id of the last row are the position of the next page. */
export function readClients(scope: Scope, filter: ListFilter, page: ListPage): PreparedStatement<ListedRow> {
  const { list, values, name } = listOf(scope, filter, page)
  const { after, limit } = pageOf(page, list, values)
  const rest = { ...list, conditions: `${list.conditions} and ${after(list.column, 'c.id')}` }
  return {
    name: `clients ${name}${page.after ? ' after' : ''}`,
    text: `with page as materialized (
        select id, key from ${firstOf(rest, mostRows)} listed order by key ${list.order}, id ${list.order} limit ${limit})
      select ${listedColumns} from ${listedFrom} order by ${listedOrder(list)}`,
    values,
  }
}

/** The number of clients on all pages, counted up to one more than `countLimit`. */
export function countClients(scope: Scope, filter: ListFilter): PreparedStatement<Counted> {
  const { list, values, name } = listOf(scope, filter, { sort: 'name' })
  return {
    name: `count ${name}`,
    text: `select count(*)::int as total from (
        select from client c where ${list.conditions} and ${statusIn(list.statuses)} limit ${countLimit(filter) + 1}) counted`,
    values,
  }
}

type FoundClient = Counted & (ListedRow | { readonly id: null })

/** Whether the clients of a list are probably few enough for `searchFewClients`. */
export const isOfFew = (scope: Scope, { consultantId }: ListFilter): boolean =>
  scope.of === 'consultant' || consultantId !== undefined

/** As `searchClients`, unless there are too many clients in the list. Each row has whether all were searched. */
export function searchFewClients(
  scope: Scope,
  filter: ListFilter & { readonly q: string },
  page: ListPage,
): PreparedStatement<FoundClient & { readonly searched_all: boolean }> {
  const { list, values, name } = listOf(scope, filter, page)
  const q = `$${values.push(filter.q)}`
  const isBest = page.sort === 'best'
  const { place, position } = placeOf(page)
  const { after, limit } = pageOf({ ...page, after: position }, list, values)
  const rest =
    place === undefined ? after('key', 'id') : `(place > ${place} or place = ${place} and ${after('key', 'id')})`
  const order = (row: string) => `${isBest ? `${row}place, ` : ''}${row}key ${list.order}, ${row}id ${list.order}`
  return {
    name: `few ${name}${position ? ` after ${place ?? ''}` : ''}`,
    text: `with searched as materialized ${placedAmongFew(list, q)},
      counted as materialized (select count(place)::int as total, count(*) <= ${reach} as searched_all from searched),
      page as materialized (select id, place, key from searched where place is not null and ${rest} order by ${order('')} limit ${limit})
      select counted.total, counted.searched_all, ${clientColumns}, ${isBest ? `page.place || ' ' || page.key` : 'page.key::text'} as key, ${openDisputes}
      from counted left join (${listedFrom}) on true order by ${order('page.')}`,
    values,
  }
}

/** One page of the matches of a search, each with the total. A page without matches has one row without a client. */
export function searchClients(
  scope: Scope,
  filter: ListFilter & { readonly q: string },
  page: ListPage,
): PreparedStatement<FoundClient> {
  if (page.sort === 'best') return bestClients(scope, filter, page)
  const { list, values, name } = listOf(scope, filter, page)
  const q = `$${values.push(filter.q)}`
  const { after, limit } = pageOf(page, list, values)
  const most = String(countLimit(filter) + 1)
  const { order } = list
  return {
    name: `found ${name}${page.after ? ' after' : ''}`,
    text: `with ${firstMatches(list, { q, limit, after })},
      ${anyMatches(list, { q, limit: most }, page.after ? undefined : 'matched')},
      counted as materialized (select case when (select yes from rare) then (select count(*) from indexed)
        else (select count(*) from all_found) end::int as total),
      page as materialized (select id, key from found order by key ${order}, id ${order} limit ${limit})
      select counted.total, ${listedColumns}
      from counted left join (${listedFrom}) on true order by ${listedOrder(list)}`,
    values,
  }
}

/** As `searchClients`, best first. */
function bestClients(
  scope: Scope,
  filter: ListFilter & { readonly q: string },
  page: ListPage,
): PreparedStatement<FoundClient> {
  const { list, values, name } = listOf(scope, filter, page)
  const q = `$${values.push(filter.q)}`
  const { place, position } = placeOf(page)
  const { after, limit } = pageOf({ ...page, after: position }, list, values)
  const most = String(countLimit(filter) + 1)
  return {
    name: `found ${name}${place === undefined ? '' : ` after ${place}`}`,
    text: `with ${bestFirst(list, { q, limit }, place === undefined ? undefined : { place, after })},
      ${anyMatches(list, { q, limit: most }, 'placed')},
      counted as materialized (select count(*)::int as total from all_found),
      page as materialized (select id, place || ' ' || key as key, place, key as name from found order by place, key, id limit ${limit})
      select counted.total, ${listedColumns}
      from counted left join (${listedFrom}) on true order by page.place, page.name, page.id`,
    values,
  }
}

/** The clients of a list that changed last whose names, references or addresses are spelt like `q`, nearest first. */
export function similarClients(
  scope: Scope,
  filter: ListFilter & { readonly q: string },
  limit: number,
): PreparedStatement<ListedRow> {
  const { list, values, name } = listOf(scope, filter, { sort: '-changed_at' })
  const nearest = nearestOf(list, { q: `$${values.push(filter.q)}`, limit: `$${values.push(limit)}` })
  return {
    name: `similar ${name}`,
    text: `select ${clientColumns}, '' as key, ${openDisputes}
      from ${nearest} page join client c on c.id = page.id join person p on p.id = c.consultant_id
      order by page.nearness desc, c.changed_at desc, c.id`,
    values,
  }
}

type Value = string | number | null | undefined

interface Counted {
  readonly total: number
}

const listedColumns = `${clientColumns}, page.key::text as key, ${openDisputes}`
const listedFrom = 'page join client c on c.id = page.id join person p on p.id = c.consultant_id'
const listedOrder = ({ order }: ClientOrder) => `page.key ${order}, page.id ${order}`

/** The place in a search after which a page begins, if it is sorted by places, and the position in the list. */
function placeOf({ sort, after }: ListPage): { readonly place?: number; readonly position: PagePosition | undefined } {
  if (sort !== 'best' || after === undefined) return { position: after }
  return { place: Number(after.key[0]), position: { key: after.key.slice(2), id: after.id } }
}

/** Adds the position and size of a page to the parameters. */
function pageOf({ sort, after: position, limit }: ListPage, { order }: ClientOrder, values: Value[]) {
  const key = position && `$${values.push(position.key)}::${keys[sortKey(sort)].type}`
  const id = position && `$${values.push(position.id)}::uuid`
  return {
    after: (keyColumn: string, idColumn: string) =>
      position === undefined
        ? 'true'
        : `(${keyColumn}, ${idColumn}) ${order === 'desc' ? '<' : '>'} (${String(key)}, ${String(id)})`,
    limit: `$${values.push(limit)}`,
  }
}

/** The number up to which clients are counted. Matches of a search cost more to count than the rows of a list. */
export function countLimit({ q }: ListFilter): number {
  return q === undefined ? 10_000 : 1000
}

function listOf(scope: Scope, { status, consultantId }: ListFilter, { sort }: Pick<ListPage, 'sort'>) {
  const { condition, value, name } = status === 'deleted' ? deletedWithin(scope) : within(scope)
  const values: Value[] = [value]
  const conditions = [condition]
  if (consultantId !== undefined) conditions.push(`c.consultant_id = $${values.push(consultantId)}::uuid`)
  const list: ClientOrder = {
    conditions: conditions.join(' and '),
    statuses: status === 'active' || status === 'archived' ? [status] : ['active', 'archived'],
    column: keys[sortKey(sort)].column,
    order: sort.startsWith('-') ? 'desc' : 'asc',
  }
  return { list, values, name: [name, status, consultantId && 'of', sort].filter(Boolean).join(' ') }
}

function sortKey(sort: ListPage['sort']): SortKey {
  switch (sort) {
    case 'best':
    case 'name':
    case '-name':
      return 'name'
    case 'reference':
    case '-reference':
      return 'reference'
    case 'changed_at':
    case '-changed_at':
      return 'changed_at'
  }
}
