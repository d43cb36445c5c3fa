import type { Scope } from '../access/policy.ts'
import { timeOf } from '../platform/calendar.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { Place } from './paging.ts'
import type { ClientQuery } from './schema.ts'
import { within } from './statements.ts'
import { clientColumns, type ClientRow } from './store.ts'

export interface ListedRow extends ClientRow {
  readonly open_disputes: number
  /** What the list is sorted by, as the next page wants it. */
  readonly key: string
}

/** What PostgreSQL takes as a text: well-formed, without NUL. */
const isPlainText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** A time as PostgreSQL writes it in UTC: `2026-03-12 10:00:00.5+00`. */
const isTime = (text: string) =>
  /^\S{10} \S+\+00$/.test(text) && timeOf(text.replace(' ', 'T').replace('+00', 'Z')) !== undefined

/** What a list is sorted by: its column, its type, and which texts it takes. */
const keys = {
  name: { column: 'c.sort_key', type: 'text', takes: isPlainText },
  reference: { column: 'c.reference_key', type: 'text', takes: isPlainText },
  changed_at: { column: 'c.changed_at', type: 'timestamptz', takes: isTime },
} as const

/** Tells what may be the key of a place in a list. */
export function keyTest(sort: ListPage['sort']): (text: string) => boolean {
  return keys[sortKey(sort)].takes
}

type SortKey = keyof typeof keys

export interface ListFilter {
  readonly q: string | undefined
  readonly status: 'active' | 'archived' | 'all'
  readonly consultantId: string | undefined
}

export interface ListPage {
  readonly sort: NonNullable<ClientQuery['sort']>
  readonly after: Place | undefined
  readonly limit: number
}

const openDisputes = `(select count(*) from dispute d
  where d.client_id = c.id and d.status = 'open' and d.archived_at is null)::int as open_disputes`

/** One page of a list that is not searched. `key` of a row and its id are the place where the next begins. */
export function readClients(scope: Scope, filter: ListFilter, page: ListPage): PreparedStatement<ListedRow> {
  const { conditions, values, name } = filtered(scope, filter)
  const { column, order, after, placeValues, limit } = placed(page, values.length)
  return {
    name: `clients ${name} ${page.sort}${page.after ? ' on' : ''}`,
    text: `select ${clientColumns}, ${column}::text as key, ${openDisputes}
      from client c join person p on p.id = c.consultant_id
      where ${conditions} and ${after(column, 'c.id')}
      order by ${column} ${order}, c.id ${order} limit ${limit}`,
    values: [...values, ...placeValues],
  }
}

/**
 * The same of a list that is searched; each row also has the number of all that were found. They are looked for first,
 * on their own: going through the list in its order until a page is full would take long for words that are rare.
 */
export function searchClients(
  scope: Scope,
  filter: ListFilter,
  page: ListPage,
): PreparedStatement<ListedRow & { readonly total: bigint }> {
  const { conditions, values, name } = filtered(scope, filter)
  const { column, order, after, placeValues, limit } = placed(page, values.length)
  return {
    name: `found ${name} ${page.sort}${page.after ? ' on' : ''}`,
    text: `with found as materialized (select c.id, ${column} as key from client c where ${conditions}),
      page as (select id, key from found where ${after('key', 'id')} order by key ${order}, id ${order} limit ${limit})
      select ${clientColumns}, page.key::text as key, ${openDisputes}, (select count(*) from found) as total
      from page join client c on c.id = page.id join person p on p.id = c.consultant_id
      order by page.key ${order}, page.id ${order}`,
    values: [...values, ...placeValues],
  }
}

/** How a page is cut out, with parameters after the first `taken`. */
function placed({ sort, after: place, limit }: ListPage, taken: number) {
  const down = sort.startsWith('-')
  const { column, type } = keys[sortKey(sort)]
  const [key, id] = [`$${taken + 1}`, `$${taken + 2}`]
  const after = (keyColumn: string, idColumn: string) =>
    place === undefined
      ? `${key}::text is null and ${id}::text is null`
      : `(${keyColumn}, ${idColumn}) ${down ? '<' : '>'} (${key}::${type}, ${id}::uuid)`
  return {
    column,
    order: down ? 'desc' : 'asc',
    after,
    limit: `$${taken + 3}`,
    placeValues: [place?.key, place?.id, limit],
  }
}

/** How many there are on all pages. */
export function countClients(scope: Scope, filter: ListFilter): PreparedStatement<{ readonly total: bigint }> {
  const { conditions, values, name } = filtered(scope, filter)
  return { name: `count ${name}`, text: `select count(*) as total from client c where ${conditions}`, values }
}

function filtered(scope: Scope, { q, status, consultantId }: ListFilter) {
  const { condition, value, name } = within(scope)
  const values: (string | null)[] = [value]
  const conditions = [condition]
  const add = (text: (parameter: string) => string, given: string) => {
    values.push(given)
    conditions.push(text(`$${values.length}`))
  }
  if (status !== 'all') add((it) => `c.status = ${it}`, status)
  if (consultantId !== undefined) add((it) => `c.consultant_id = ${it}::uuid`, consultantId)
  // In a subselect, so that it is worked out once and not for every client.
  if (q !== undefined) add((it) => `c.search @@ (select beginnings(${it}))`, q)
  const which = [status !== 'all' && 'status', consultantId && 'consultant', q !== undefined && 'q']
  return { conditions: conditions.join(' and '), values, name: `${name} ${which.filter(Boolean).join(' ')}` }
}

function sortKey(sort: ListPage['sort']): SortKey {
  switch (sort) {
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
