import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { Actor } from '../actor.ts'

export type ActorKind = Actor['kind']

/** A new row of the log. The database sets its id and time. */
export interface NewEntry {
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly actor: ActorKind
  readonly actor_name: string | undefined
  readonly person_id: string | undefined
  readonly client_id: string | undefined
  readonly noun: string | undefined
  readonly noun_id: string | undefined
  readonly request_id: string | undefined
  readonly address: string | undefined
  readonly details: Readonly<Record<string, string>> | undefined
}

const columns = 'action, outcome, actor, actor_name, person_id, client_id, noun, noun_id, request_id, address, details'

export async function insertEntries(database: Queryable, entries: readonly NewEntry[]): Promise<void> {
  await database.rows({
    name: 'audit',
    text: `insert into audit (${columns})
      select ${columns} from jsonb_to_recordset($1) as r(action text, outcome text, actor text, actor_name text,
        person_id uuid, client_id uuid, noun text, noun_id uuid, request_id text, address text, details jsonb)`,
    values: [JSON.stringify(entries)],
  })
}

export interface StoredEntry {
  readonly id: bigint
  readonly at: Date
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly actor: ActorKind
  readonly actor_name: string | null
  readonly person_id: string | null
  readonly person_name: string | null
  readonly client_id: string | null
  readonly client_name: string | null
  readonly noun: string | null
  readonly noun_id: string | null
  readonly request_id: string | null
  readonly address: string | null
  readonly details: Readonly<Record<string, string>> | null
}

/** The conditions on rows; undefined for none. Ids are UUIDs, times are in ISO format. */
export interface EntryFilter {
  readonly action?: string | undefined
  readonly outcome?: string | undefined
  readonly actor?: string | undefined
  readonly person?: string | undefined
  readonly client?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** `false`: no rows that record only that something was shown. */
  readonly views?: 'false' | undefined
}

/** Selects the part of the log that one search reads. */
export interface AuditSearch {
  readonly filter: EntryFilter
  /** Only rows with lower ids. */
  readonly before: string | undefined
  /** The maximum number of rows to return. */
  readonly limit: number
  /** Default: `defaultReach`. */
  readonly reach?: SearchReach | undefined
}

/** The maximum number of rows that one search reads. */
export interface SearchReach {
  /** Without an index. */
  readonly all: number
  /** From the index of each filter that has one. */
  readonly own: number
}

const defaultReach: SearchReach = { all: 50_000, own: 2000 }

/** A row of a result, newest first. Every row says where the search ended; if nothing matched, there is one without an entry. */
export type FoundEntry = (StoredEntry | { readonly [Column in keyof StoredEntry]: null }) & {
  /** The lowest id that the search read. */
  readonly seen: bigint
  /** Whether rows with lower ids are left to search. */
  readonly more: boolean
}

type Filter = keyof EntryFilter

/** The index audit_without_views has the same condition, so PostgreSQL knows that it serves this filter. */
const isNoView = `a.action !~ '(_read|_listed|_searched)$'`

/** The condition of each filter on the row `a`. */
const conditions: Readonly<Record<Filter, (parameter: string) => string>> = {
  action: (it) => `a.action = ${it}`,
  outcome: (it) => `a.outcome = ${it}`,
  actor: (it) => `a.actor = ${it}`,
  person: (it) => `a.person_id = ${it}::uuid`,
  client: (it) => `a.client_id = ${it}::uuid`,
  from: (it) => `a.at >= ${it}::timestamptz`,
  to: (it) => `a.at < ${it}::timestamptz`,
  views: (it) => `${it}::text = 'false' and ${isNoView}`,
}
const filters = ['action', 'outcome', 'actor', 'person', 'client', 'from', 'to', 'views'] as const

/** The filters that have an index, each with its condition. */
function indexed(filter: EntryFilter, parameter: (name: Filter) => string): [Filter, string][] {
  const served = (['client', 'person', 'action'] as const).filter((name) => filter[name] !== undefined)
  const own = served.map((name): [Filter, string] => [name, conditions[name](parameter(name))])
  // Partial indexes: PostgreSQL uses them only if the condition has their constant.
  if (filter.views === 'false') own.push(['views', isNoView])
  if (filter.outcome === 'refused') own.push(['outcome', `a.outcome = 'refused'`])
  if (filter.actor !== undefined && filter.actor !== 'person') {
    own.push(['actor', `${conditions.actor(parameter('actor'))} and a.actor <> 'person'`])
  }
  return own
}

/**
 * Searches the log, newest first, and reads a bounded number of rows. If fewer rows match than the limit, the next
 * search starts before `seen`. `from` and `to` rely on rows being in chronological order, to within an hour, except in
 * a log that one search reads whole.
 */
export function readEntries({
  filter,
  before,
  limit,
  reach = defaultReach,
}: AuditSearch): PreparedStatement<FoundEntry> {
  const given = filters.filter((name) => filter[name] !== undefined)
  const values = [before, limit, reach.all, reach.own]
  const parameter = (name: Filter) => `$${values.length + 1 + given.indexOf(name)}`
  const wanted = given.map((name) => ` and ${conditions[name](parameter(name))}`)
  const from = given.includes('from') ? `audit_place(${parameter('from')}::timestamptz - interval '1 hour')` : '0'
  const to = given.includes('to') ? `audit_place(${parameter('to')}::timestamptz + interval '1 hour')` : lastNumber
  const own = indexed(filter, parameter)
  return {
    name: `audit ${given.join(' ')} ${own.map(([name]) => name.charAt(0)).join('')}`,
    text: `with span as materialized (
        select case when first > $3::bigint then first else 0 end as first,
          least($1::bigint, greatest(last, $3), (select coalesce(max(id), 0) + 1 from audit)) as last
        from (select ${from} as first, ${to} as last) s
        where $4::bigint > 0),
      ${own.length > 0 ? searchIndexes(own) : searchAll},
      found as (
        select a.* from ${own.length > 0 ? rowsById : rowsInRange} where true${wanted.join('')}
        order by ${own.length > 0 ? 'ids' : 'a'}.id desc limit $2)
      select l.seen, l.more, a.id, a.at, a.action, a.outcome, a.actor, a.actor_name, a.person_id,
        p.name as person_name, a.client_id, c.name as client_name, a.noun, a.noun_id, a.request_id, a.address, a.details
      from look l left join found a on true
        left join person p on p.id = a.person_id left join client c on c.id = a.client_id
      order by a.id desc`,
    values: [...values, ...given.map((name) => filter[name])],
  }
}

const lastNumber = '9223372036854775807'

const searchAll = `look as materialized (
  select greatest(first, last - $3) as seen, last - $3 > greatest(first, 1) as more from span)`

// "offset 0" prevents the planner from reading the whole table where few rows match.
const rowsById = 'ids cross join lateral (select * from audit where id = ids.id offset 0) a'
const rowsInRange = `(
  select * from audit where id < (select last from span) and id >= (select seen from look) order by id desc offset 0) a`

/** Follows the filter whose index reaches furthest back. */
function searchIndexes(own: readonly (readonly [Filter, string])[]): string {
  const ids = own.map(
    ([name, condition]) => `ids_by_${name} as materialized (
      select a.id from audit a
      where ${condition} and a.id < (select last from span) and a.id >= (select first from span)
      order by a.id desc limit $4)`,
  )
  const ends = own.map(
    ([name]) => `select '${name}' as by, coalesce(min(id), 0) as seen, count(*) = $4 as more from ids_by_${name}`,
  )
  const followed = own.map(([name]) => `select id from ids_by_${name} where (select by from look) = '${name}'`)
  return `${ids.join(', ')},
    look as materialized (select * from (${ends.join(' union all ')}) ends order by more, seen limit 1),
    ids as materialized (select id from (${followed.join(' union all ')}) followed order by id desc)`
}

/** Whether the transaction has the role of a partner. */
export const readRole: PreparedStatement<{ readonly partner: boolean }> = {
  name: 'role',
  text: `select current_user = portal_role('partner') as partner`,
}
