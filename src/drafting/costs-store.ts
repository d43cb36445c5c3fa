import { formatMoney } from '../billing/prices/money.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { ClientCosts } from './schema.ts'

/** Amounts are in 10⁻¹² of the currency unit, as text. */
export interface CostsRow {
  readonly consultant_id: string
  readonly by_month:
    | readonly {
        readonly month: string
        readonly requests: number
        readonly input_tokens: number
        readonly output_tokens: number
        readonly cost: string
      }[]
    | null
  readonly by_letter:
    | readonly {
        readonly id: string
        readonly subject: string
        readonly archived: boolean
        readonly requests: number
        readonly cost: string
      }[]
    | null
  readonly total: string
  readonly by_person: string
}

/**
 * The charges of a client, as one snapshot: the sums of the roll-ups, which are those of the ledger, and the drafts' rows
 * of the ledger. No row: the client does not exist for the person.
 */
export function readCosts(clientId: string): PreparedStatement<CostsRow> {
  return {
    name: 'costs',
    text: `with day as materialized (select * from (
        select day, person_id, requests, input_tokens, cached_tokens, cache_write_tokens, output_tokens, cost
        from usage_day where client_id = $1) u)
      select c.consultant_id,
        (select json_agg(m order by m.month desc) from (
           select to_char(day, 'YYYY-MM') as month, sum(requests) as requests, sum(input_tokens + cached_tokens + cache_write_tokens) as input_tokens,
             sum(output_tokens) as output_tokens, sum(cost)::text as cost from day group by 1) m) as by_month,
        (select json_agg(w order by w.created_at desc, w.id desc) from (
           select n.id, n.subject, n.archived_at is not null as archived, n.created_at, count(*) as requests,
             sum(l.cost)::text as cost
           from draft d join letter n on n.id = d.letter_id
             cross join lateral (select cost from ledger where request_id = d.id limit 1) l
           where d.client_id = c.id group by n.id) w) as by_letter,
        (select coalesce(sum(cost), 0)::text from day) as total,
        (select coalesce(sum(cost), 0)::text from day where person_id is not null) as by_person
      from client c where c.id = $1 and c.deleted_at is null`,
    values: [clientId],
  }
}

export function presentCosts(row: CostsRow, currency: string): ClientCosts {
  const letters = row.by_letter ?? []
  const kept = letters.reduce((sum, { cost }) => sum + BigInt(cost), 0n)
  return {
    total: formatMoney(BigInt(row.total)),
    currency,
    by_month: (row.by_month ?? []).map((month) => ({ ...month, cost: formatMoney(BigInt(month.cost)) })),
    by_letter: letters.map(({ id, subject, archived, requests, cost }) => ({
      letter: { id, subject, archived },
      requests,
      cost: formatMoney(BigInt(cost)),
    })),
    not_kept: formatMoney(BigInt(row.by_person) - kept),
    by_api: formatMoney(BigInt(row.total) - BigInt(row.by_person)),
  }
}
