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
const reach = 2000

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
  /** Put before the names of the CTEs. */
  readonly prefix?: string
}

/**
 * The condition that a client matches a search: every word by prefix, or the whole text anywhere in the client's words,
 * both without spaces and punctuation.
 */
const matches = (row: string, q: string): string =>
  `(${row}search @@ (select beginnings(${q})) or ${row}spelling like (select within_spelling(${q})))`

/**
 * CTEs that end with `found`: the first `limit` clients of a list that match a search. A common word fills the limit
 * within the first rows of the list (`near`). A word that does not, in a list longer than that, is `rare`, and the
 * full-text index finds all its matches (`indexed`); for a common word that index would collect most of the table.
 */
export function firstMatches(list: ClientOrder, match: Match): string {
  const { column, order } = list
  const { q, limit, after, prefix = '' } = match
  const rest = { ...list, conditions: `${list.conditions} and ${after(column, 'c.id')}` }
  return `${prefix}head as materialized ${headOf(rest, q)},
    ${nearMatches(match)},
    ${prefix}indexed as materialized ${indexedMatches(list, match)},
    ${prefix}found as materialized (
      select id, key from ${prefix}near where not (select yes from ${prefix}rare)
      union all
      (select id, key from ${prefix}indexed where ${after('key', 'id')} order by key ${order}, id ${order} limit ${limit}))`
}

/**
 * CTEs that end with `all_found`: any `limit` clients that match a search, to be counted. On the first page, the rows that
 * `firstMatches` has read are the first of all.
 */
export function anyMatches(list: ClientOrder, { q, limit }: Pick<Match, 'q' | 'limit'>, isFirstPage: boolean): string {
  const match = { q, limit, prefix: 'all_' }
  return `all_head as ${isFirstPage ? 'not materialized (select * from head)' : `materialized ${headOf(list, q)}`},
    ${nearMatches(match)},
    all_found as materialized (
      select id from all_near where not (select yes from all_rare)
      union all (select id from ${indexedMatches(list, match)} matches limit ${limit}))`
}

/** How much alike two spellings must be, from 0 to 1 (pg_trgm's word similarity). */
const leastNearness = 0.3
/** Rows in index order that may be guessed at. */
const guessable = 1000
/** Of those, the rows whose similarity is computed: it takes five times as long as counting what they share with the text. */
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
  return `(select id, key, ${matches('', q)} as is_match
      from ${firstOf(list, String(reach), ', c.search, c.spelling')} listed)`
}

function nearMatches({ limit, prefix = '' }: Pick<Match, 'limit' | 'prefix'>): string {
  return `${prefix}near as materialized (select id, key from ${prefix}head where is_match limit ${limit}),
    ${prefix}rare as materialized (
      select (select count(*) from ${prefix}near) < ${limit}
        and (select count(*) from ${prefix}head) >= ${reach} as yes)`
}

function indexedMatches(
  { conditions, statuses, column }: ClientOrder,
  { q, prefix = '' }: Pick<Match, 'q' | 'prefix'>,
): string {
  return `(select c.id, ${column} as key from client c
      where (select yes from ${prefix}rare) and ${conditions} and ${statusIn(statuses)}
        and ${matches('c.', q)})`
}

export function statusIn(statuses: ClientOrder['statuses']): string {
  return `c.status in (${statuses.map((each) => `'${each}'`).join(', ')})`
}
