import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { firstMatches, nearestOf, type ClientOrder } from './match-store.ts'
import type { RecordNoun } from './schema.ts'
import { within } from './statements-store.ts'

export interface FoundRow {
  readonly noun: RecordNoun
  readonly id: string
  readonly title: string
  /** The first 20 000 characters of the text, for the snippet. */
  readonly text: string
  readonly client: { readonly id: string; readonly name: string }
  readonly changed_at: Date
  readonly archived: boolean
}

const item = { changed: 'n.updated_at', archived: 'n.archived_at is not null' } as const

const shown = {
  client: {
    title: 'n.name',
    text: `concat_ws(' · ', n.name, n.reference, n.email)`,
    changed: 'n.changed_at',
    archived: `n.status = 'archived'`,
  },
  note: { title: `to_char(n.date, 'YYYY-MM-DD')`, text: 'n.text', ...item },
  dispute: { title: 'n.invoice', text: `n.invoice || ' · ' || n.position`, ...item },
  letter: { title: 'n.subject', text: `n.subject || ' · ' || n.body`, ...item },
} as const

/**
 * Clients or items of one noun that match all words of `q`, last changed first; archived items after the others. Clients with this
 * reference come first, then those with the whole words.
 */
export function searchNoun(noun: RecordNoun, scope: Scope, q: string, limit: number): PreparedStatement<FoundRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `search ${noun} ${name}`,
    text: `with ${noun === 'client' ? matchingClients(condition) : matchingItems(noun, condition)},
      best as materialized (select id, place, last, key from found order by place, last, key desc, id desc limit $3)
      select ${columnsOf(noun)}
      from best join ${noun} n on n.id = best.id join client c on c.id = ${noun === 'client' ? 'n.id' : 'n.client_id'}
      order by best.place, best.last, best.key desc, best.id desc`,
    values: [value, q, limit],
  }
}

/** Of the clients that changed last, those whose names, references or addresses are spelt like `q`, nearest first. */
export function searchSimilar(scope: Scope, q: string, limit: number): PreparedStatement<FoundRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `similar ${name}`,
    text: `select ${columnsOf('client')}
      from ${nearestOf(byChange(condition), { q: '$2', limit: '$3' })} best
        join client n on n.id = best.id join client c on c.id = n.id
      order by best.nearness desc, n.changed_at desc, n.id`,
    values: [value, q, limit],
  }
}

function columnsOf(noun: RecordNoun): string {
  const { title, text, changed, archived } = shown[noun]
  return `'${noun}' as noun, n.id, ${title} as title, left(${text}, 20000) as text,
    json_build_object('id', c.id, 'name', c.name) as client, ${changed} as changed_at, ${archived} as archived`
}

const byChange = (conditions: string): ClientOrder => ({
  conditions,
  statuses: ['active', 'archived'],
  column: 'c.changed_at',
  order: 'desc',
})

/** Of fewer matches than on a page of the search, the best would be found only by chance. */
const leastCompared = 20

function matchingClients(conditions: string): string {
  const match = { q: '$2', limit: `greatest($3, ${leastCompared})`, after: () => 'true', prefix: 'client_' }
  return `${firstMatches(byChange(conditions), match)},
    exact as materialized (
      select c.id, 1 as place, c.changed_at as key from client c
      where ${conditions} and c.status in ('active', 'archived') and c.reference_key = lower(trim($2)) and trim($2) <> ''
      limit $3),
    found as (
      select id, place, false as last, key from exact
      union all select f.id, case when n.search @@ (select plainto_tsquery('simple', words($2))) then 2 else 3 end, false, f.key
      from client_found f join client n on n.id = f.id where f.id not in (select id from exact))`
}

/** The number of last changed items that a search tests before it uses the full-text index, as in `firstMatches`. */
const recentItems = 500
/** For a consultant with at most this many clients, a search reads the items client by client. */
const fewClients = 1000

/**
 * CTEs that end with `found`. All items: like `firstMatches`. One consultant's items: client by client, which reads only what
 * the consultant may see; the full-text index reads the matches of the whole firm. Archived items are `last`.
 */
function matchingItems(noun: Exclude<RecordNoun, 'client'>, condition: string): string {
  const near = condition.includes('consultant_id')
    ? `own as materialized (select c.id from client c where ${condition} limit ${fewClients + 1}),
        rare as materialized (select count(*) > ${fewClients} as yes from own),
        near as materialized (
          select n.id, n.archived_at is not null as last, n.updated_at as key from own cross join lateral (
            select i.id, i.archived_at, i.updated_at, i.search from ${noun} i where i.client_id = own.id offset 0) n
          where not (select yes from rare) and n.search @@ (select beginnings($2)))`
    : `near as materialized (
          select n.id, false as last, n.updated_at as key from (
            select i.id, i.client_id, i.updated_at, i.search from ${noun} i where i.archived_at is null
            order by i.updated_at desc, i.id desc limit ${recentItems}) n
          join client c on c.id = n.client_id
          where ${condition} and n.search @@ (select beginnings($2)) limit $3),
        rare as materialized (select count(*) < $3 as yes from near)`
  return `${near},
    indexed as materialized (
      select n.id, n.archived_at is not null as last, n.updated_at as key
      from ${noun} n join client c on c.id = n.client_id
      where (select yes from rare) and ${condition} and n.search @@ (select beginnings($2))),
    found as materialized (
      select id, 1 as place, last, key from near where not (select yes from rare)
      union all (select id, 1, last, key from indexed order by last, key desc, id desc limit $3))`
}
