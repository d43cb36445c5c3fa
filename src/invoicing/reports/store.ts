import type { PreparedStatement } from '../../platform/database/pipeline.ts'

/** Receivables by how long they are overdue, in 10⁻¹² of the currency unit. */
export interface OwedRow {
  readonly not_due: bigint
  readonly to_30: bigint
  readonly to_60: bigint
  readonly to_90: bigint
  readonly over_90: bigint
  /** The overpaid amount, which is in none of the other amounts. */
  readonly to_return: bigint
}

/** The amount that a payer owes. Without kind, id and name: the total of all payers. */
export interface AgeingRow extends OwedRow {
  readonly kind: 'client' | 'account' | null
  readonly id: string | null
  readonly name: string | null
  /** The number of payers. */
  readonly payers: bigint
}

/** The amount that is overdue by a range of days. */
const owedFrom = (first: number, last: number) =>
  `coalesce(sum(open) filter (where open > 0 and late between ${first} and ${last}), 0)`

const spans = `${owedFrom(-100_000, 0)} as not_due, ${owedFrom(1, 30)} as to_30, ${owedFrom(31, 60)} as to_60,
          ${owedFrom(61, 90)} as to_90, ${owedFrom(91, 100_000)} as over_90, -coalesce(sum(open) filter (where open < 0), 0) as to_return`

/**
 * What is open on a day, `YYYY-MM-DD`: a row for all payers together, and then at most `most` payers, or all: who owes most comes
 * first. Only these payers' amounts are divided by how late they are, which takes most of the time.
 */
export function readAgeing(today: string, currency: string, most: number | null): PreparedStatement<AgeingRow> {
  return {
    name: 'ageing',
    text: `with paid as (select invoice_id, sum(amount) as amount from invoice_payment group by invoice_id),
      credited as (select credits_id, sum(gross) as amount from invoice where kind = 'credit_note' and state = 'issued' group by 1),
      owed as materialized (
        select client_id, account_id, coalesce(client_id, account_id) as payer, late, open from (
          select i.client_id, i.account_id, $1::date - i.due_on as late,
            i.gross - coalesce(p.amount, 0) - coalesce(c.amount, 0) as open
          from invoice i left join paid p on p.invoice_id = i.id left join credited c on c.credits_id = i.id
          where i.kind = 'invoice' and i.state = 'issued' and i.currency = $2) i
        where open <> 0
      ), payers as (
        select client_id, account_id, payer, sum(greatest(open, 0)) as owed, count(*) over () as payers
        from owed group by 1, 2, 3 order by owed desc, client_id, account_id limit $3
      ), aged as (
        select null::uuid as payer, ${spans} from owed
        union all
        select payer, ${spans} from owed join payers using (payer) group by payer
      )
      select case when p.client_id is not null then 'client' when p.account_id is not null then 'account' end as kind,
        p.payer as id,
        coalesce((select name from client where id = p.client_id), (select name from account where id = p.account_id)) as name, a.not_due, a.to_30, a.to_60, a.to_90, a.over_90, a.to_return,
        coalesce(max(p.payers) over (), 0) as payers
      from aged a left join payers p using (payer)
      order by p.owed desc nulls first, p.client_id, p.account_id`,
    values: [today, currency, most],
  }
}

export interface TurnoverRow {
  /** `2026-03`. */
  readonly month: string
  readonly invoiced: bigint
  readonly credited: bigint
}

/** The net amounts that were issued in each month from a day on, oldest first. Months without any are left out. */
export function readTurnover(from: string, currency: string): PreparedStatement<TurnoverRow> {
  return {
    name: 'turnover',
    text: `with per_day as (
        select issued_on, kind, sum(net) as net from invoice
        where state = 'issued' and issued_on >= $1::date and currency = $2 group by 1, 2
      )
      select to_char(issued_on, 'YYYY-MM') as month, coalesce(sum(net) filter (where kind = 'invoice'), 0) as invoiced,
        coalesce(sum(net) filter (where kind = 'credit_note'), 0) as credited
      from per_day group by 1 order by 1`,
    values: [from, currency],
  }
}

/** The other currencies in which invoices were issued. */
export function readOtherCurrencies(currency: string): PreparedStatement<{ readonly currency: string }> {
  return {
    name: 'other currencies',
    text: `select distinct currency from invoice where state = 'issued' and currency <> $1 order by 1`,
    values: [currency],
  }
}

/** The part of an issued invoice that has one tax. Amounts are in 10⁻¹² of the currency unit. */
export interface BookedRow {
  readonly number: string
  readonly kind: 'invoice' | 'credit_note'
  readonly credits: string | null
  readonly issued_on: string
  readonly due_on: string
  readonly buyer_name: string
  readonly buyer_tax_number: string | null
  readonly client_id: string | null
  readonly account_id: string | null
  readonly currency: string
  readonly decimals: number
  readonly category: string
  /** In hundredths of a per cent. */
  readonly rate: bigint
  readonly net: bigint
  readonly tax: bigint
}

/** What was issued on the days from one to another, both inclusive, in this order. Credit notes are negative. */
export function readBooked(from: string, to: string): PreparedStatement<BookedRow> {
  return {
    name: 'booked invoices',
    text: `select i.number, i.kind, o.number as credits, i.issued_on, i.due_on, i.buyer_name, i.buyer_tax_number, i.client_id,
        i.account_id, i.currency, i.decimals::integer as decimals, t.category, t.rate, s.sign * t.net as net, s.sign * t.tax as tax
      from invoice i left join invoice o on o.id = i.credits_id
        cross join lateral (select case i.kind when 'credit_note' then -1 else 1 end as sign) s
        cross join lateral jsonb_to_recordset(i.taxes) as t(category text, rate numeric, net numeric, tax numeric)
      where i.state = 'issued' and i.issued_on between $1::date and $2::date
      order by i.issued_on, i.series, i.series_number, t.category, t.rate`,
    values: [from, to],
  }
}
