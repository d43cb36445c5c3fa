import { containsLongParts, hasOneSpelling, mayContain } from '../../platform/database/spelling-store.ts'

/** SQL for lists and searches of clients that reads a bounded number of rows, however large the table is. */

/** A list of clients in the order of an index. */
export interface ClientOrder {
  /** The conditions on the client, `c`, except for its status. */
  readonly conditions: string
  readonly statuses: readonly ('active' | 'archived')[]
  /** The column that an index sorts by, after consultant and status. */
  readonly column: string
  readonly order: 'asc' | 'desc'
}

/** Rows in index order that a search reads before it turns to the full-text index. */
export const reach = 2000

/**
 * The first `limit` clients of a list: `id` and `key`. Each status is read from its own part of the index, so that a list
 * of both needs no separate index.
 */
export function firstOf({ conditions, statuses, column, order }: ClientOrder, limit: string, extra = ''): string {
  const parts = statuses.map(
    (status) => `(select c.id, ${column} as key${extra} from client c
      where ${conditions} and c.status = '${status}' order by ${column} ${order}, c.id ${order} limit ${limit})`,
  )
  return parts.length === 1
    ? parts.join('')
    : `(select * from (${parts.join(' union all ')}) both_statuses order by key ${order}, id ${order} limit ${limit})`
}

interface Match {
  /** The parameter with the words. */
  readonly q: string
  /** The parameter or number of rows wanted. */
  readonly limit: string
  /** The condition that a row comes after the last page, on its key and its id. */
  readonly after: (key: string, id: string) => string
}

/**
 * The condition that a client matches a search: every word begins one of the client's, or is a part of one, or the whole
 * text is without spaces and punctuation.
 */
const matches = (row: string, q: string): string =>
  `(${row}search @@ (select beginnings(${q})) or ${containsLongParts(`${row}spelling`, q)})`

const isExact = (row: string, q: string): string => `${row}reference_key = (select nullif(lower(trim(${q})), ''))`

/** The conditions of the places of a match, best first; `c` has no earlier place. */
const places = [
  { place: 1, condition: (q: string) => isExact('c.', q) },
  { place: 2, condition: (q: string) => `c.search @@ (select whole_words(${q})) and not ${isExact('c.', q)}` },
  {
    place: 3,
    condition: (q: string) =>
      `c.search @@ (select beginnings(${q})) and not c.search @@ (select whole_words(${q})) and not ${isExact('c.', q)}`,
  },
  {
    place: 4,
    condition: (q: string) =>
      `${containsLongParts('c.spelling', q)} and not c.search @@ (select beginnings(${q})) and not ${isExact('c.', q)}`,
  },
] as const

/** 1 for the client with this reference, 2 for all whole words, 3 for their beginnings, 4 for parts of words. Null without a match. */
const placeOf = (q: string): string =>
  `case when ${isExact('', q)} then 1
    when ${mayContain('spelling', q)} then case
      when search @@ (select beginnings(${q})) then case when search @@ (select whole_words(${q})) then 2 else 3 end
      when ${hasOneSpelling(q)} or ${containsLongParts('spelling', q)} then 4 end end`

/**
 * CTEs that end with `found`: the first `limit` clients of a list that match a search. A common word fills the limit
 * within the first rows of the list (`near`). A word that does not, in a list longer than that, is `rare`, and the
 * full-text index finds all its matches (`indexed`); for a common word that index would collect most of the table.
 */
export function firstMatches(list: ClientOrder, { q, limit, after }: Match): string {
  const { column, order } = list
  const rest = { ...list, conditions: `${list.conditions} and ${after(column, 'c.id')}` }
  return `head as materialized ${headOf(rest, q)},
    ${nearMatches(limit)},
    indexed as materialized ${indexedMatches(list, q)},
    found as materialized (
      select id, key from near where not (select yes from rare)
      union all
      (select id, key from indexed where ${after('key', 'id')} order by key ${order}, id ${order} limit ${limit}))`
}

/** Where a page of the best matches begins. */
interface BestStart {
  readonly place: number
  /** The condition that a row of this place comes after the last page. */
  readonly after: Match['after']
}

/**
 * CTEs that end with `found`: the first `limit` clients of a list that match a search, by their place and then in the order of the list.
 * Each place is read as in `firstMatches`, unless those before have filled the limit.
 */
export function bestFirst(list: ClientOrder, { q, limit }: Pick<Match, 'q' | 'limit'>, start?: BestStart): string {
  const { order, column, statuses } = list
  const from = places.filter(({ place }) => place >= (start?.place ?? 1))
  const heads = [`head as materialized ${placedHead(list, q)}`]
  if (start) {
    const rest = { ...list, conditions: `${list.conditions} and ${start.after(column, 'c.id')}` }
    heads.push(`rest as materialized ${placedHead(rest, q)}`)
  }
  const read = from.map(({ place, condition }, index) => {
    const [head, after] = place === start?.place ? ['rest', ` and ${start.after(column, 'c.id')}`] : ['head', '']
    const before = from.slice(0, index).map((each) => `(select count(*) from found_${each.place})`)
    const isWanted = `${['0', ...before].join(' + ')} < ${limit}`
    // One client of each consultant has the reference, and its index is as good as the first rows of a list.
    const near = place === 1 ? 'false' : isWanted
    return `near_${place} as materialized (select id, key from ${head} where ${near} and place = ${place} limit ${limit}),
    rare_${place} as materialized (select ${isWanted} and (${place} = 1
      or (select count(*) from near_${place}) < ${limit} and (select count(*) from ${head}) >= ${reach}) as yes),
    found_${place} as materialized (
      select id, key from near_${place} where not (select yes from rare_${place})
      union all (select id, key from (select c.id, ${column} as key from client c
        where (select yes from rare_${place}) and ${list.conditions} and ${statusIn(statuses)} and ${condition(q)}${after} offset 0) indexed
        order by key ${order}, id ${order} limit ${limit}))`
  })
  const all = from.map(({ place }) => `select id, ${place} as place, key from found_${place}`)
  return `${[...heads, ...read].join(',\n    ')},
    found as materialized (${all.join(' union all ')})`
}

/** The first rows of a list with their places. */
function placedHead(list: ClientOrder, q: string): string {
  return `(select id, key, ${placeOf(q)} as place
      from ${firstOf(list, String(reach), ', c.search, c.spelling, c.reference_key')} listed)`
}

/**
 * A query of the clients of a list in no order, with their places in a search. Of a list with more than `reach` clients, it reads the first
 * that it finds. It is faster than `bestFirst`, most of which deals with long lists.
 */
export function placedAmongFew({ conditions, statuses, column }: ClientOrder, q: string): string {
  return `(select id, key, ${placeOf(q)} as place from (
      select c.id, ${column} as key, c.search, c.spelling, c.reference_key from client c
      where ${conditions} and ${statusIn(statuses)} limit ${reach + 1}) listed)`
}

/**
 * CTEs that end with `all_found`: any `limit` clients that match a search, to be counted. On the first page, the rows that
 * `firstMatches` has read (`matched`) are the first of all, and on every page those that `bestFirst` has (`placed`).
 */
export function anyMatches(
  list: ClientOrder,
  { q, limit }: Pick<Match, 'q' | 'limit'>,
  head?: 'matched' | 'placed',
): string {
  const isMatch = head === 'placed' ? 'place is not null as is_match' : 'is_match'
  return `all_head as ${head ? `not materialized (select id, key, ${isMatch} from head)` : `materialized ${headOf(list, q)}`},
    ${nearMatches(limit, 'all_')},
    all_found as materialized (
      select id from all_near where not (select yes from all_rare)
      union all (select id from ${indexedMatches(list, q, 'all_')} matches limit ${limit}))`
}

/** How much alike two spellings must be, from 0 to 1 (pg_trgm's word similarity). */
const leastNearness = 0.3
/** Rows in index order that may be guessed at. */
const guessable = 1000
/** The rows of those whose similarity is computed: it takes five times as long as counting what they share with the text. */
const compared = 30
/** About how many sequences of a text are looked for. */
const mostSequences = 32

/**
 * A query of the clients in the first rows of a list that are spelt like a text: `id` and `nearness`. It uses no index: in
 * one, a misspelt word of many clients would lead to all of them. Subqueries without a row are computed once, not once per
 * row, and `offset 0` keeps PostgreSQL from computing a value both to filter and to sort.
 */
export function nearestOf(list: ClientOrder, { q, limit }: Pick<Match, 'q' | 'limit'>): string {
  return `(select id, nearness from (
      select id, key, word_similarity((select words(${q})), spelling) as nearness
      from ${likeliestOf(list, q)} likeliest offset 0) compared
    where nearness >= ${leastNearness} order by nearness desc, key ${list.order}, id limit ${limit})`
}

/**
 * The rows with the most sequences of three characters of a text, such as ` ho`, `hol`, `olm` and `lm ` of "Holm". The
 * sequences are joined: as a subquery of each row they would look so costly that PostgreSQL planned every execution anew.
 */
function likeliestOf(list: ClientOrder, q: string): string {
  return `(select id, key, spelling from (
      select id, key, spelling,
        (select count(*) from unnest(sequences) sequence where strpos(' ' || spelling, sequence) > 0) as shared
      from ${firstOf(list, String(guessable), ', c.spelling')} listed cross join (
        select array_agg(distinct substr(text, n, 3)) as sequences from concat(' ', words(${q}), ' ') text,
          generate_series(1, length(text) - 2, 1 + length(text) / ${mostSequences}) n) sought offset 0) counted
    where shared > 0 order by shared desc, key ${list.order} limit ${compared})`
}

/** The first rows of a list, and whether they match. PostgreSQL reads as many of them as are asked for. */
function headOf(list: ClientOrder, q: string): string {
  return `(select id, key, ${mayContain('spelling', q)} and (${hasOneSpelling(q)} or ${matches('', q)}) as is_match
      from ${firstOf(list, String(reach), ', c.search, c.spelling')} listed)`
}

function nearMatches(limit: string, prefix = ''): string {
  return `${prefix}near as materialized (select id, key from ${prefix}head where is_match limit ${limit}),
    ${prefix}rare as materialized (
      select (select count(*) from ${prefix}near) < ${limit}
        and (select count(*) from ${prefix}head) >= ${reach} as yes)`
}

function indexedMatches({ conditions, statuses, column }: ClientOrder, q: string, prefix = ''): string {
  return `(select c.id, ${column} as key from client c
      where (select yes from ${prefix}rare) and ${conditions} and ${statusIn(statuses)}
        and ${matches('c.', q)})`
}

export function statusIn(statuses: ClientOrder['statuses']): string {
  return `c.status in (${statuses.map((each) => `'${each}'`).join(', ')})`
}
