import { joinCreditUse } from '../accounts/credit-use.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'

/** What is left of an account. Amounts are in 10⁻¹² of the currency unit. */
export interface AccountCreditRow {
  readonly id: string
  readonly name: string
  readonly own: boolean
  readonly creditLeft: bigint
  readonly monthlyLimit: bigint | null
  /** From 0 to 100, rounded down. */
  readonly usedPercent: number
}

/**
 * The firm's own open accounts, and others of which 90 % or more is used: first those with the smallest share left. An
 * account without any credit is used up.
 */
export function readAccountCredit(database: Queryable, most: number): Promise<AccountCreditRow[]> {
  return database.rows(
    `select id, name, own, "creditLeft", monthly_limit as "monthlyLimit", coalesce("usedPercent", 100) as "usedPercent"
     from account ${joinCreditUse}
     where status = 'open' and (own or credit_use."usedPercent" >= 90)
     order by "usedPercent" desc, own desc, name limit $1`,
    [most],
  )
}

/** The charges of one day in UTC, to all accounts: those of the roll-up, which are those of the ledger. */
export function readDayCost(
  database: Queryable,
  day: string,
): Promise<{ readonly cost: bigint; readonly requests: bigint }[]> {
  return database.rows(
    'select coalesce(sum(cost), 0) as cost, coalesce(sum(requests), 0) as requests from usage_day where day = $1::date',
    [day],
  )
}

export interface OverdueRow {
  readonly invoices: bigint
  /** In 10⁻¹² of the currency unit. */
  readonly open: bigint
  /** When the oldest of them was due, `2026-03-12`. */
  readonly oldest: string | null
}

/** The invoices that are overdue on a day, `YYYY-MM-DD`: those that the list shows in this state. */
export function readOverdue(today: string, currency: string): PreparedStatement<OverdueRow> {
  return {
    name: 'overdue invoices',
    text: `select count(*) as invoices, coalesce(sum(open), 0) as open, min(due_on) as oldest from (
        select i.due_on, i.gross - coalesce(p.amount, 0) - coalesce(c.amount, 0) as open from invoice i
          left join (select invoice_id, sum(amount) as amount from invoice_payment group by 1) p on p.invoice_id = i.id
          left join (select credits_id, sum(gross) as amount from invoice where kind = 'credit_note' and state = 'issued' group by 1) c
            on c.credits_id = i.id
        where i.kind = 'invoice' and i.state = 'issued' and i.due_on < $1::date and i.currency = $2) due
      where open > 0`,
    values: [today, currency],
  }
}
