import type { PreparedStatement } from '../platform/database/pipeline.ts'

/** What is owed by how long it is overdue, in 10⁻¹² of the currency unit. */
export interface OwedRow {
  readonly not_due: bigint
  readonly to_30: bigint
  readonly to_60: bigint
  readonly to_90: bigint
  readonly over_90: bigint
  /** What was paid too much, which is in none of the other amounts. */
  readonly to_return: bigint
}

/** What a payer owes; of all payers together without kind, id and name. */
export interface AgeingRow extends OwedRow {
  readonly kind: 'client' | 'account' | null
  readonly id: string | null
  readonly name: string | null
  /** The number of payers. */
  readonly payers: bigint
}

/** The sum of what is overdue by a number of days. */
const owedFrom = (first: number, last: number) =>
  `coalesce(sum(open) filter (where open > 0 and late between ${first} and ${last}), 0)`

/**
 * What is open on a day, `YYYY-MM-DD`: a row for all payers together, and then at most `most` payers, or all: who owes most comes
 * first.
 */
export function readAgeing(today: string, currency: string, most: number | null): PreparedStatement<AgeingRow> {
  return {
    name: 'ageing',
    text: `with paid as (select invoice_id, sum(amount) as amount from invoice_payment group by invoice_id),
      credited as (select credits_id, sum(gross) as amount from invoice where kind = 'credit_note' and state = 'issued' group by 1),
      owed as (
        select i.client_id, i.account_id, $1::date - i.due_on as late,
          i.gross - coalesce(p.amount, 0) - coalesce(c.amount, 0) as open
        from invoice i left join paid p on p.invoice_id = i.id left join credited c on c.credits_id = i.id
        where i.kind = 'invoice' and i.state = 'issued' and i.currency = $2
      ), aged as (
        select client_id, account_id, ${owedFrom(-100_000, 0)} as not_due, ${owedFrom(1, 30)} as to_30,
          ${owedFrom(31, 60)} as to_60, ${owedFrom(61, 90)} as to_90, ${owedFrom(91, 100_000)} as over_90,
          -coalesce(sum(open) filter (where open < 0), 0) as to_return, sum(greatest(open, 0)) as owed,
          grouping(client_id) as is_total, count(*) over () - 1 as payers
        from owed where open <> 0 group by grouping sets ((client_id, account_id), ())
        order by is_total desc, owed desc, client_id, account_id limit $3 + 1
      )
      select case when a.client_id is not null then 'client' when a.account_id is not null then 'account' end as kind,
        coalesce(a.client_id, a.account_id) as id, coalesce(c.name, o.name) as name, a.not_due, a.to_30, a.to_60, a.to_90,
        a.over_90, a.to_return, a.payers
      from aged a left join client c on c.id = a.client_id left join account o on o.id = a.account_id
      order by a.is_total desc, a.owed desc, a.client_id, a.account_id`,
    values: [today, currency, most],
  }
}

export interface TurnoverRow {
  /** `2026-03`. */
  readonly month: string
  readonly invoiced: bigint
  readonly credited: bigint
}

/** The net amounts that were issued in each month from a day on, the oldest first. Months without any are left out. */
export function readTurnover(from: string, currency: string): PreparedStatement<TurnoverRow> {
  return {
    name: 'turnover',
    text: `select to_char(issued_on, 'YYYY-MM') as month, coalesce(sum(net) filter (where kind = 'invoice'), 0) as invoiced,
        coalesce(sum(net) filter (where kind = 'credit_note'), 0) as credited
      from invoice where state = 'issued' and issued_on >= $1::date and currency = $2 group by 1 order by 1`,
    values: [from, currency],
  }
}
