import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { personJson, within } from './statements.ts'
import type { PersonJson } from './items-store.ts'
import type { Noun } from './schema.ts'

export interface FoundRow {
  readonly noun: Noun
  readonly id: string
  readonly title: string
  /** Of which it is a part: at most its first 20 000 characters. */
  readonly text: string
  readonly client: { readonly id: string; readonly name: string }
  readonly changed_at: Date
}

const places = {
  client: { title: 'c.name', text: `concat_ws(' · ', c.name, c.reference, c.email)` },
  note: { title: `to_char(n.date, 'YYYY-MM-DD')`, text: 'n.text' },
  dispute: { title: 'n.invoice', text: `n.invoice || ' · ' || n.position` },
  letter: { title: 'n.subject', text: `n.subject || ' · ' || n.body` },
} as const

/**
 * The places of one kind where words begin with those of `q`, the last changed first. They are looked for before they are
 * sorted: see `searchClients`.
 */
export function search(noun: Noun, scope: Scope, q: string, limit: number): PreparedStatement<FoundRow> {
  const { condition, value, name } = within(scope)
  const { title, text } = places[noun]
  const [row, changed] = noun === 'client' ? ['c', 'c.changed_at'] : ['n', 'n.updated_at']
  const from =
    noun === 'client' ? 'client c' : `client c join ${noun} n on n.client_id = c.id and n.archived_at is null`
  return {
    name: `search ${noun} ${name}`,
    text: `with found as materialized (
        select ${row}.id, ${changed} as changed_at, c.id as client_id, c.name from ${from}
        where ${condition} and ${row}.search @@ (select beginnings($2))),
      latest as (select * from found order by changed_at desc, id desc limit $3)
      select '${noun}' as noun, latest.id, ${title} as title, left(${text}, 20000) as text,
        json_build_object('id', latest.client_id, 'name', latest.name) as client, latest.changed_at
      from latest join ${noun} ${row} on ${row}.id = latest.id
      order by latest.changed_at desc, latest.id desc`,
    values: [value, q, limit],
  }
}

export interface ActivityRow {
  readonly id: bigint
  readonly at: Date
  readonly by: PersonJson | null
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly noun: string | null
  readonly noun_id: string | null
  readonly details: Readonly<Record<string, string>> | null
}

/** What was done to a client's record, the last first. */
export function readActivity(
  scope: Scope,
  clientId: string,
  { before, reads, limit }: { before: bigint | undefined; reads: boolean; limit: number },
): PreparedStatement<ActivityRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `activity ${name}`,
    text: `select e.id, e.at, ${personJson('a')} as by, e.action, e.outcome, e.noun, e.noun_id, e.details
      from client c join audit e on e.client_id = c.id left join person a on a.id = e.person_id
      where ${condition} and c.id = $2 and e.id < coalesce($3::bigint, 9223372036854775807)
        and ($4::boolean or e.action !~ '_(read|listed)$')
      order by e.id desc limit $5`,
    values: [value, clientId, before, reads, limit],
  }
}

/** With which the numbers of its rows are hidden. */
export const readNumberKey: PreparedStatement<{ readonly key: string }> = {
  name: 'number key',
  text: 'select number_key() as key',
}
