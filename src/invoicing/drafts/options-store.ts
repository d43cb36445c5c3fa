import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { BuyerPlace } from '../document.ts'

/** A client or an account, as the buyer that a draft has if it states none. */
export interface PayerRow {
  readonly id: string
  readonly name: string
  readonly buyer_name: string
  readonly buyer_address: string | null
  readonly buyer_tax_number: string | null
  /** Where the invoices of a client go, if that is not its postal address; null for an account. */
  readonly buyer_place: BuyerPlace | null
  readonly buyer_reference: string | null
  readonly order_number: string | null
  readonly days_to_pay: number | null
  readonly language: string | null
}

/** At most one row. */
export function readPayer(kind: 'client' | 'account', id: string): PreparedStatement<PayerRow> {
  return {
    name: `payer ${kind}`,
    text:
      kind === 'client'
        ? `select id, name, name as buyer_name, address as buyer_address, vat_number as buyer_tax_number,
             json_build_object('street', billing_street, 'extra', billing_extra, 'postcode', billing_postcode,
               'city', billing_city, 'country', billing_country) as buyer_place,
             buyer_reference, order_number, days_to_pay, billing_language as language
           from client where id = $1 and deleted_at is null`
        : `select id, name, coalesce(billing_name, name) as buyer_name, billing_address as buyer_address,
             billing_tax_number as buyer_tax_number, null as buyer_place, null as buyer_reference, null as order_number,
             null as days_to_pay, null as language from account where id = $1`,
    values: [id],
  }
}

/** A past month in which an account used something, with the cost of that in 10⁻¹² of the currency unit. */
export interface UnbilledMonth {
  /** `2026-03`. */
  readonly month: string
  readonly cost: bigint
}

/** The unbilled months of an account, newest first. */
export function readUnbilledMonths(database: Queryable, accountId: string): Promise<UnbilledMonth[]> {
  return database.rows(
    `select to_char(u.month, 'YYYY-MM') as month, u.cost
     from (select date_trunc('month', day)::date as month, sum(cost) as cost from usage_day
       where account_id = $1 and day < date_trunc('month', (now() - interval '1 hour') at time zone 'UTC') group by 1) u
     where not exists (select from billed_month b where b.account_id = $1 and b.month = u.month)
       and not exists (select from account a where a.id = $1 and a.own)
     order by u.month desc limit 120`,
    [accountId],
  )
}
