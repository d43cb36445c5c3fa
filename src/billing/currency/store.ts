import type { Queryable } from '../../platform/database/database.ts'

/** Undefined before the first start. */
export async function readCurrency(database: Queryable): Promise<string | undefined> {
  const [row] = await database.rows<{ currency: string }>('select currency from books_currency')
  return row?.currency
}

/** Writes it if there is none. */
export async function ensureCurrency(database: Queryable, currency: string): Promise<void> {
  await database.rows('insert into books_currency (currency) values ($1) on conflict do nothing', [currency])
}

/** Reads it and keeps it from being replaced until the transaction ends. Waits for a transaction that is replacing it. */
export async function lockCurrency(tx: Queryable): Promise<string | undefined> {
  const [row] = await tx.rows<{ currency: string }>('select currency from books_currency for update')
  return row?.currency
}

/** Replaces what is recorded. */
export async function writeCurrency(database: Queryable, currency: string): Promise<void> {
  await database.rows('update books_currency set currency = $1', [currency])
}

/**
 * The host of an instance that was heard of within so many seconds, by the clock of the database. A time further ahead is of an
 * instance that is gone since the clock was set back: one that runs would have renewed it.
 */
export async function readRunningHost(tx: Queryable, seconds: number): Promise<string | undefined> {
  const [row] = await tx.rows<{ host: string }>(
    `select host from instance where seen_at between clock_timestamp() - make_interval(secs => $1)
       and clock_timestamp() + make_interval(secs => $1) order by seen_at desc limit 1`,
    [seconds],
  )
  return row?.host
}

/** What has amounts, in words. The prices of the configuration do not count: they change with it. */
export async function readKindsOfAmounts(tx: Queryable): Promise<string[]> {
  const rows = await tx.rows<{ kind: string }>(
    `select kind from (values
        (1, 'credit', exists (select from credit_entry)),
        (2, 'monthly limits', exists (select from account where monthly_limit is not null)),
        (3, 'budgets', exists (select from key_limit where num_nonnulls(daily_budget, monthly_budget) > 0) or exists (select from budget)),
        (4, 'prices', exists (select from price where source <> 'configuration')),
        (5, 'charges', exists (select from ledger)),
        (6, 'invoices', exists (select from invoice)),
        (7, 'time entries', exists (select from time_entry)),
        (8, 'expenses', exists (select from expense)),
        (9, 'disputes', exists (select from dispute where amount is not null))
      ) as amounts (place, kind, exist)
      where exist order by place`,
  )
  return rows.map(({ kind }) => kind)
}
