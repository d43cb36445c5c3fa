import { join } from 'node:path'
import { pino } from 'pino'
import { createAudit } from '../src/access/audit.ts'
import { createContext } from '../src/commands/context.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import { createSessions } from '../src/signin/sessions.ts'
import { clientCount, seeds, superuserUrl } from './records-seed.ts'
import { freePort, startProcess, type ServerProcess } from './server-process.ts'
import { install, root } from './tollgate.ts'

/** Tollgate with a million ledger rows and 200 000 clients, and a partner who is signed in. */
export interface PagesStage {
  /** Gets a page's data as the partner. `ACCOUNT` in the path stands for the id of an account. */
  get(this: void, path: string): Promise<void>
  close(): Promise<void>
}

const ledgerRows = 1_000_000
const accounts = 50
const partner = '01990000-0003-7000-8000-000000000001'

export async function openPagesStage(folder: string): Promise<PagesStage> {
  const installation = await install(folder, { upstream: 'http://127.0.0.1:9/v1', accounts })
  const { environment } = installation
  const { stdout, stderr } = process
  const context = createContext({ environment: { ...process.env, ...environment }, root, stdout, stderr })
  let server: ServerProcess | undefined
  let database: Database | undefined
  const close = async () => {
    await server?.stop()
    await database?.close()
    await context.close()
  }
  try {
    await context.database()
    const url = await superuserUrl(environment)
    database = openDatabase(url, { log: await context.log(), connections: 2, statementTimeout: 0 })
    console.log(`  creating ${clientCount} clients and ${ledgerRows} ledger rows …`)
    for (const statement of [...seeds, ...usageSeeds]) await database.rows(statement)
    const [account] = await database.rows<{ id: string }>('select id from account order by id limit 1')
    const cookie = await signIn(database)
    const port = await freePort()
    server = startProcess({
      command: join(root, 'tollgate'),
      args: ['start'],
      environment: { ...environment, PORT: `${port}` },
      output: join(folder, 'tollgate.log'),
    })
    await server.ready(`http://127.0.0.1:${port}/readyz`, 60_000)
    return {
      async get(path: string) {
        const address = `http://127.0.0.1:${port}${path.replace('ACCOUNT', account?.id ?? '')}`
        const response = await fetch(address, { headers: { cookie, accept: 'application/json' } })
        const body = await response.text()
        if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${body}`)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts a session of the partner. Returns the Cookie header. */
async function signIn(database: Database): Promise<string> {
  const audit = createAudit({ database })
  const lifetimes = { idle: 3_600_000, absolute: 12 * 3_600_000 }
  const sessions = createSessions({ database, audit, log: pino({ level: 'silent' }), lifetimes })
  const { value } = await sessions.start({ personId: partner, method: 'bench', factors: ['provider'] })
  await sessions.close()
  await audit.close()
  return `session=${value}`
}

/** Ids of version 7, as requests have them: the ms of their time first. */
const idAt = (time: string, n: string) =>
  `(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(${n}), 15, '0'))::uuid`

const usageSeeds = [
  `insert into person (id, name, role, created_at) values ('${partner}', 'Partner', 'partner', now())`,
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
