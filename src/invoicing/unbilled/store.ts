import type { PreparedStatement } from '../../platform/database/pipeline.ts'

/** Lists the months that ended since the last call. It reads the roll-ups only then. */
export const closeMonths: PreparedStatement = { name: 'close months', text: 'select close_months()', values: [] }

export interface TimeRow {
  readonly id: string
  readonly version: number
  readonly date: string
  readonly minutes: number
  /** In 10⁻¹² of the currency unit. */
  readonly rate: bigint
  readonly person: string
  readonly text: string
}

/** The unbilled time of a client, up to a day. */
export function readTime(clientId: string, until: string, most: number): PreparedStatement<TimeRow> {
  return {
    name: 'unbilled time',
    text: `select t.id, t.version, t.date, t.minutes, t.rate, coalesce(p.name, '') as person, t.text
      from unbilled u join time_entry t on t.id = u.id left join person p on p.id = t.created_by
      where u.client_id = $1 and u.kind = 'time' and u.day <= $2::date order by t.date, t.id limit $3`,
    values: [clientId, until, most],
  }
}

export interface ExpenseRow {
  readonly id: string
  readonly version: number
  readonly date: string
  /** In 10⁻¹² of the currency unit. */
  readonly amount: bigint
  readonly tax: string | null
  readonly text: string
}

/** The unbilled expenses of a client, up to a day. */
export function readExpenses(clientId: string, until: string, most: number): PreparedStatement<ExpenseRow> {
  return {
    name: 'unbilled expenses',
    text: `select e.id, e.version, e.date, e.amount, e.tax, e.text from unbilled u join expense e on e.id = u.id
      where u.client_id = $1 and u.kind = 'expense' and u.day <= $2::date order by e.date, e.id limit $3`,
    values: [clientId, until, most],
  }
}

export interface LettersRow {
  /** The first day of the month. */
  readonly month: string
  /** Without mark-up, in 10⁻¹² of the currency unit. */
  readonly cost: bigint
}

/** The months of a client with unbilled letters, up to a day. */
export function readLetters(clientId: string, until: string, most: number): PreparedStatement<LettersRow> {
  return {
    name: 'unbilled letters',
    text: `select date_trunc('month', day)::date as month, amount as cost from unbilled
      where client_id = $1 and kind = 'letters' and day <= $2::date order by day limit $3`,
    values: [clientId, until, most],
  }
}

/** What one payer is to be billed for. Amounts are in 10⁻¹² of the currency unit. */
export interface UnbilledRow {
  readonly client_id: string | null
  readonly account_id: string | null
  readonly name: string
  readonly archived: boolean
  readonly deleted: boolean
  readonly items: number
  readonly amount: bigint
  readonly oldest: string
  readonly all_payers: number
  readonly all_items: number
  readonly all_amount: bigint
}

const orders = {
  oldest: 'oldest, amount desc',
  amount: 'amount desc, oldest',
  name: 'lower(name)',
} as const
export type UnbilledOrder = keyof typeof orders

interface UnbilledFilter {
  readonly until: string
  /** The mark-up on letters, in hundredths of a per cent. */
  readonly markup: number
  /** The minor unit of the currency. */
  readonly unit: bigint
  readonly sort: UnbilledOrder
  readonly skip: number
  /** Null: all. */
  readonly most: number | null
}

/** What a row becomes on a draft, with the mark-up and the minor unit in these parameters. */
const billed = (markup: string, unit: string) => `case kind when 'usage' then amount
  when 'letters' then half_even(half_even(amount * (10000 + ${markup}::int), 10000), ${unit}::numeric) * ${unit}::numeric
  else half_even(amount, ${unit}::numeric) * ${unit}::numeric end`

/** The unbilled work of a client, up to a day. `amount` is null if there is none. */
export function readUnbilledOf(
  clientId: string,
  { until, markup, unit }: Pick<UnbilledFilter, 'until' | 'markup' | 'unit'>,
): PreparedStatement<{ readonly items: number; readonly amount: bigint | null }> {
  return {
    name: 'unbilled of a client',
    text: `select count(*)::int as items, sum(${billed('$3', '$4')}) as amount from unbilled
      where client_id = $1 and day <= $2::date`,
    values: [clientId, until, markup, unit],
  }
}

/**
 * Unbilled work by payer, up to a day. The firm's own accounts are not billed. What becomes a line of a draft is rounded as that
 * line is (see client-lines.ts); a month of an account becomes several lines, so its cost is exact.
 */
export function readUnbilledPayers({
  until,
  markup,
  unit,
  sort,
  skip,
  most,
}: UnbilledFilter): PreparedStatement<UnbilledRow> {
  return {
    name: `unbilled by ${sort}`,
    text: `with u as (
        select client_id, account_id, count(*)::int as items, min(day) as oldest,
          sum(${billed('$2', '$5')}) as amount
        from unbilled where day <= $1::date group by client_id, account_id),
      p as (
        select u.*, coalesce(c.name, a.name) as name, coalesce(c.status = 'archived', false) as archived,
          c.deleted_at is not null as deleted
        from u left join client c on c.id = u.client_id
          left join account a on a.id = u.account_id and not a.own
        where c.id is not null or a.id is not null)
      select *, (count(*) over ())::int as all_payers, (sum(items) over ())::int as all_items,
        sum(amount) over () as all_amount
      from p order by ${orders[sort]}, client_id, account_id offset $3 limit $4`,
    values: [until, markup, skip, most, unit],
  }
}
