import type { PreparedStatement } from '../../platform/database/pipeline.ts'

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
