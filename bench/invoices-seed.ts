import type { Database } from '../src/platform/database/database.ts'
import { idAt } from './pages-stage.ts'
import { clientSeeds } from './records-seed.ts'

/** How much data there is. Every account has a request in each month. */
export interface InvoicesSize {
  readonly ledgerRows: number
  readonly accounts: number
}

/** The past months that the ledger covers, evenly, from the first to the last second. */
export const months = ['2026-01', '2026-02', '2026-03'] as const
const begin = `timestamptz '2026-01-01T00:00:00Z'`
const seconds = 90 * 86_400

/** The models of the first account, whose invoices have two lines for each. */
const manyModels = 100
const chunks = 10

const accountId = (place: string) => `('01990000-0004-7000-8000-' || lpad(to_hex(${place}), 12, '0'))::uuid`
const keyId = (place: string) => `('01990000-0005-7000-8000-' || lpad(to_hex(${place}), 12, '0'))::uuid`

/** Creates clients, and accounts with their ledger, roll-ups and charges. */
export async function seedInvoices(database: Database, size: InvoicesSize): Promise<void> {
  for (const statement of [...clientSeeds, ...ledgerSeeds]) await database.rows(statement)
  const perChunk = Math.ceil(size.ledgerRows / chunks)
  const spans = Array.from({ length: chunks }, (_, n) => [n * perChunk, Math.min((n + 1) * perChunk, size.ledgerRows)])
  await atTwo(spans, async ([first = 0, end = 0]) => {
    await database.rows(insertLedger(size, first, end))
    console.log(`  ledger rows ${first} to ${end} of ${size.ledgerRows}`)
  })
  await database.rows('create index on ledger (account_id, at)')
  console.log('  roll-ups and accounts …')
  await atTwo(months, (month) => database.rows(insertRollUps(month)))
  for (const statement of accountSeeds) await database.rows(statement)
}

/** Does the work for each item, for two at a time, because a statement uses one processor. */
async function atTwo<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const rest = items.values()
  const next = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all([next(), next()])
}

const ledgerSeeds = [
  // The price of `large` changes within each month, so that the run must read the ledger for every account.
  `insert into price (model, valid_from, input, output, source)
   select 'fast', ${begin} - interval '1 month', 10000000, 40000000, 'command'
   union all select 'large', ${begin} - interval '1 month', 20000000, 60000000, 'command'
   union all select 'large', ${begin} + n * interval '1 month' + interval '9 days', 21000000 + n * 1000000, 60000000, 'command'
     from generate_series(0, ${months.length - 1}) n
   union all select 'model-' || n, ${begin} - interval '1 month', 100000000 + n, 200000000 + n, 'command'
     from generate_series(0, ${manyModels - 1}) n`,
  `select ledger_partitions(date '${months[0]}-01', date '${months.at(-1)}-01')`,
  // Building it over all rows is faster than inserting each row, as accounts are in no order.
  'drop index ledger_account_id_at_idx',
]

/** The numbers are not drawn from their sequence, so that the service has nothing to seal while it is measured. */
const insertLedger = ({ ledgerRows, accounts }: InvoicesSize, first: number, end: number) => `
  insert into ledger (number, at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price,
    output_price, cost, stop_reason, usage_source, milliseconds)
  select n, at, ${idAt('at', 'n')}, ${accountId('place')}, ${keyId('place')}, m.model, i, o, p.input, p.output,
    i * p.input + o * p.output::numeric, 'complete', 'upstream', 900
  from generate_series(${first}, ${end - 1}) n
    cross join lateral (select ${begin} + n * ${seconds / ledgerRows} * interval '1 second' as at, n % ${accounts} as place,
      n / ${accounts} as turn, 100 + n % 900 as i, 50 + n % 400 as o) t
    cross join lateral (select case when place = 0 then 'model-' || turn % ${manyModels}
      when (place + turn) % 2 = 0 then 'fast' else 'large' end as model) m
    join (select *, lead(valid_from, 1, 'infinity') over (partition by model order by valid_from) as until from price) p
      on p.model = m.model and at >= p.valid_from and at < p.until`

const insertRollUps = (month: string) => `
  insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
  select (at at time zone 'UTC')::date, account_id, key_id, model, count(*), sum(input_tokens), sum(output_tokens), sum(cost)
  from ledger where at >= timestamptz '${month}-01T00:00:00Z' and at < timestamptz '${month}-01T00:00:00Z' + interval '1 month'
  group by 1, 2, 3, 4`

const accountSeeds = [
  `insert into account (id, name, requests_per_minute, tokens_per_minute, request_level, token_level, credited, charged)
   select account_id, 'Account ' || row_number() over (order by account_id), 60, 1000, 0, 0, 1e18, sum(cost)
   from usage_day group by account_id`,
  `insert into credit_entry (id, account_id, amount) select uuidv7(), id, credited from account`,
  `insert into api_key (id, public_id, secret_hash, account_id, name)
   select key_id, 'bench-' || right(key_id::text, 12), sha256(key_id::text::bytea), account_id, 'bench'
   from usage_day group by account_id, key_id`,
  'vacuum analyze',
]
