import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { bestFirst, nearestOf, type ClientOrder } from './match-store.ts'
import type { RecordNoun } from '../schema.ts'
import { within } from '../statements-store.ts'

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
  document: { title: 'n.name', text: 'n.name', ...item },
  task: { title: 'n.title', text: 'n.title', ...item },
  contact: { title: 'n.name', text: `concat_ws(' · ', n.name, n.job_title, n.email, n.phone)`, ...item },
} as const

/**
 * Clients or items of one noun that match all words of `q`: archived items after the others, then the client with this reference or the
 * disputes about this invoice first, then those with the whole words, and then those that changed last.
 */
export function searchNoun(noun: RecordNoun, scope: Scope, q: string, limit: number): PreparedStatement<FoundRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `search ${noun} ${name}`,
    text: `with ${noun === 'client' ? matchingClients(condition) : matchingItems(noun, condition)},
      best as materialized (select id, place, ${noun === 'client' ? 'false' : 'last'} as last, key from found order by last, place, key desc, id desc limit $3)
      select ${columnsOf(noun)}
      from best join ${noun} n on n.id = best.id join client c on c.id = ${noun === 'client' ? 'n.id' : 'n.client_id'}
      order by best.last, best.place, best.key desc, best.id desc`,
    values: [value, q, limit],
  }
}

/** The clients that changed last whose names, references or addresses are spelt like `q`, nearest first. */
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

/** The best of fewer matches than on a page of the search would be found only by chance. */
const leastCompared = 20

function matchingClients(conditions: string): string {
  return bestFirst(byChange(conditions), { q: '$2', limit: `greatest($3, ${leastCompared})` })
}

/** The number of last changed items that a search tests before it uses the full-text index, as in `bestFirst`. */
const recentItems = 500
/** For a consultant with at most this many clients, a search reads the items client by client. */
const fewClients = 1000

type ItemNoun = Exclude<RecordNoun, 'client'>

/** 1 for disputes about this invoice, 2 for all whole words, 3 for their beginnings. */
const placeOf = (noun: ItemNoun): string =>
  `case ${noun === 'dispute' ? `when lower(n.invoice) = (select lower(trim($2))) then 1` : ''}
    when n.search @@ (select whole_words($2)) then 2 else 3 end as place`

/** CTEs that end with `found`. Archived items are `last`. */
const matchingItems = (noun: ItemNoun, condition: string): string =>
  condition.includes('consultant_id') ? ownItems(noun, condition) : allItems(noun, condition)

/** Client by client, which reads only what the consultant may see; the full-text index reads the matches of the whole firm. */
function ownItems(noun: ItemNoun, condition: string): string {
  const columns = `n.id, ${placeOf(noun)}, n.archived_at is not null as last, n.updated_at as key`
  return `own as materialized (select c.id from client c where ${condition} limit ${fewClients + 1}),
    rare as materialized (select count(*) > ${fewClients} as yes from own),
    near as materialized (
      select ${columns} from own cross join lateral (select i.* from ${noun} i where i.client_id = own.id offset 0) n
      where not (select yes from rare) and n.search @@ (select beginnings($2))),
    indexed as materialized (
      select ${columns} from ${noun} n join client c on c.id = n.client_id
      where (select yes from rare) and ${condition} and n.search @@ (select beginnings($2))),
    found as materialized (select * from near union all select * from indexed)`
}

/** As `bestFirst`: first those with the whole words, and only if these do not fill the limit, the others. */
function allItems(noun: ItemNoun, condition: string): string {
  const most = `greatest($3, ${leastCompared})`
  const indexed = (
    matches: string,
  ) => `select n.id, ${placeOf(noun)}, n.archived_at is not null as last, n.updated_at as key
      from ${noun} n join client c on c.id = n.client_id where ${condition} and ${matches}`
  const best = `order by last, place, key desc, id desc limit ${most}`
  return `recent as materialized (
      select n.id, ${placeOf(noun)}, false as last, n.updated_at as key from (
        select * from ${noun} i where i.archived_at is null order by i.updated_at desc, i.id desc limit ${recentItems}) n
      join client c on c.id = n.client_id where ${condition} and n.search @@ (select beginnings($2))),
    near_whole as materialized (select * from recent where place < 3 limit ${most}),
    rare_whole as materialized (select count(*) < ${most} as yes from near_whole),
    indexed_whole as materialized (
      ${indexed('(select yes from rare_whole) and n.search @@ (select whole_words($2))')}),
    whole as materialized (
      select * from near_whole where not (select yes from rare_whole)
      union all (select * from indexed_whole ${best})),
    wanted as materialized (select count(*) < ${most} as yes from whole where not last),
    near as materialized (select * from recent where (select yes from wanted) and place = 3 limit ${most}),
    rare as materialized (select (select yes from wanted) and count(*) < ${most} as yes from near),
    indexed as materialized (
      ${indexed('(select yes from rare) and n.search @@ (select beginnings($2)) and not n.search @@ (select whole_words($2))')}),
    found as materialized (
      select * from whole union all select * from near where not (select yes from rare)
      union all (select * from indexed ${best}))`
}
