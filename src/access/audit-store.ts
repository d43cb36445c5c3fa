import type { PreparedStatement } from '../platform/database-pipeline.ts'

export interface StoredEntry {
  readonly id: bigint
  readonly at: Date
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
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

/** Which rows; undefined for all. Ids and times are what PostgreSQL takes. */
export interface EntryFilter {
  readonly action?: string | undefined
  readonly outcome?: string | undefined
  readonly person?: string | undefined
  readonly client?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** What each filter asks of a row, `a`. */
const conditions: Readonly<Record<keyof EntryFilter, (parameter: string) => string>> = {
  action: (it) => `a.action = ${it}`,
  outcome: (it) => `a.outcome = ${it}`,
  person: (it) => `a.person_id = ${it}::uuid`,
  client: (it) => `a.client_id = ${it}::uuid`,
  from: (it) => `a.at >= ${it}::timestamptz`,
  to: (it) => `a.at < ${it}::timestamptz`,
}
const filters = ['action', 'outcome', 'person', 'client', 'from', 'to'] as const

/** Rows before an id, the last first. */
export function readEntries(
  filter: EntryFilter,
  before: string | undefined,
  limit: number,
): PreparedStatement<StoredEntry> {
  const given = filters.filter((name) => filter[name] !== undefined)
  const wanted = given.map((name, index) => ` and ${conditions[name](`$${index + 3}`)}`)
  return {
    name: `audit ${given.join(' ')}`,
    text: `select a.id, a.at, a.action, a.outcome, a.person_id, p.name as person_name, a.client_id, c.name as client_name,
        a.noun, a.noun_id, a.request_id, a.address, a.details
      from audit a left join person p on p.id = a.person_id left join client c on c.id = a.client_id
      where a.id < coalesce($1::bigint, 9223372036854775807)${wanted.join('')}
      order by a.id desc limit $2`,
    values: [before, limit, ...given.map((name) => filter[name])],
  }
}

/** Whether the transaction has the role of a partner: who is none any more does not get it. */
export const readRole: PreparedStatement<{ readonly partner: boolean }> = {
  name: 'role',
  text: `select current_user = portal_role('partner') as partner`,
}
