import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { PersonJson } from '../items/store.ts'
import { personJson, within } from '../statements-store.ts'

export interface ActivityRow {
  readonly id: bigint
  readonly at: Date
  readonly by: PersonJson | null
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly noun: string | null
  readonly noun_id: string | null
  readonly details: Readonly<Record<string, string>> | null
  /** The title of an item of this client. */
  readonly title: string | null
}

/** The item of an event, if it is one of this client. */
const itemOf = (noun: string, row: string) =>
  `left join ${noun} ${row} on e.noun = '${noun}' and ${row}.id = e.noun_id and ${row}.client_id = $2`

/** The audit events of a client's record, newest first. */
export function readActivity(
  scope: Scope,
  clientId: string,
  { before, reads, limit }: { before: bigint | undefined; reads: boolean; limit: number },
): PreparedStatement<ActivityRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `activity ${name}`,
    text: `select e.id, e.at, ${personJson('a')} as by, e.action, e.outcome, e.noun, e.noun_id, e.details,
        coalesce(n.date::text, d.invoice, l.subject, f.name, k.title, o.name, t.date::text, x.date::text) as title
      from (select e.id, e.at, e.person_id, e.action, e.outcome, e.noun, e.noun_id, e.details
          from client c join audit e on e.client_id = c.id
          where ${condition} and c.id = $2 and e.id < coalesce($3::bigint, 9223372036854775807)
            and ($4::boolean or e.action !~ '_(read|listed)$|^upload_')
          order by e.id desc limit $5) e
        left join person a on a.id = e.person_id
        ${itemOf('note', 'n')} ${itemOf('dispute', 'd')} ${itemOf('letter', 'l')} ${itemOf('document', 'f')}
        ${itemOf('task', 'k')} ${itemOf('contact', 'o')} ${itemOf('time_entry', 't')} ${itemOf('expense', 'x')}
      order by e.id desc`,
    values: [value, clientId, before, reads, limit],
  }
}

/** The encryption key for `hiddenNumbers`. */
export const readNumberKey: PreparedStatement<{ readonly key: string }> = {
  name: 'number key',
  text: 'select number_key() as key',
}
