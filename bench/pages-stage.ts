import type { Database } from '../src/platform/database/database.ts'
import { openPortalStage, type PortalStage } from './portal-stage.ts'
import { clientCount, seeds } from './records-seed.ts'

/** Tollgate with a million ledger rows and 200 000 clients, and a partner who is signed in. */
export interface PagesStage extends PortalStage {
  /** Gets a page's data as the partner. `ACCOUNT` in the path stands for the id of an account. */
  get(this: void, path: string): Promise<void>
}

const ledgerRows = 1_000_000
const accounts = 50

/** `upstream` is the address of the model `fast`, and `settings` more of the configuration file. */
export async function openPagesStage(
  folder: string,
  options: { readonly upstream?: string; readonly settings?: string } = {},
): Promise<PagesStage> {
  const stage = await openPortalStage(folder, { ...options, accounts, seed })
  const [account] = await stage.database.rows<{ id: string }>('select id from account order by id limit 1')
  return { ...stage, get: (path) => stage.get(path.replace('ACCOUNT', account?.id ?? '')) }
}

async function seed(database: Database): Promise<void> {
  console.log(`  creating ${clientCount} clients and ${ledgerRows} ledger rows …`)
  for (const statement of [...seeds, ...usageSeeds]) await database.rows(statement)
}

/** Ids of version 7, as requests have them: the ms of their time first. */
export const idAt = (time: string, n: string) =>
  `(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(${n}), 15, '0'))::uuid`

const usageSeeds = [
  // For the parameters of logged statements. What a server was started with is changed only by a database's settings, for later connections.
  `alter database tollgate set log_error_verbosity = 'default'`,
  'alter table ledger disable trigger user',
  `select ledger_partitions(date '2026-01-01', date '2026-03-01')`,
  // Sixty days, one request in twenty for one of a thousand clients.
  `insert into ledger (at, request_id, account_id, key_id, model, client_id, input_tokens, output_tokens, input_price,
     output_price, cost, stop_reason, usage_source, milliseconds)
   select at, ${idAt('at', 'n')}, k.account_id, k.id, 'fast',
     case when n % 20 = 0 then ('01990000-0001-7000-8000-' || lpad(to_hex(1 + n / 20 % 1000), 12, '0'))::uuid end,
     100 + n % 900, 50 + n % 400, 100000, 400000, (100 + n % 900) * 100000 + (50 + n % 400) * 400000::numeric, 'complete', 'upstream', 900
   from generate_series(1, ${ledgerRows}) n
     cross join lateral (select timestamptz '2026-01-01T00:00:00Z' + n * interval '5.184 seconds' as at) t
     join (select id, account_id, row_number() over (order by id) as place from api_key where account_id is not null) k
       on k.place = 1 + n % ${accounts}`,
  'alter table ledger enable trigger user',
  `insert into usage_day (day, account_id, key_id, model, client_id, requests, input_tokens, output_tokens, cost)
   select (at at time zone 'UTC')::date, account_id, key_id, model, client_id, count(*), sum(input_tokens), sum(output_tokens), sum(cost)
   from ledger group by 1, 2, 3, 4, 5`,
  'vacuum analyze',
]
