import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { byService } from '../src/access/actor.ts'
import { pino } from 'pino'
import { createAccounts } from '../src/accounts/accounts.ts'
import { createKeys } from '../src/accounts/keys.ts'
import { createContext } from '../src/commands/context.ts'
import type { Database } from '../src/platform/database/database.ts'

export const root = join(import.meta.dirname, '..')

/** An installation of Tollgate as an operator would have it: a configuration file and a data folder. */
export interface Installation {
  readonly environment: Record<string, string>
  /** Keys of as many accounts, whose limits nobody reaches. */
  readonly keys: readonly string[]
  /** What the books say. It works while the service runs and while it does not. */
  books(): Promise<Books>
}

export interface Books {
  readonly ledgerRows: number
  readonly holds: number
  /** Whether the database waits for the disk before it calls something durable. */
  readonly durable: boolean
}

/** Makes an installation with one model, `fast`, behind the upstream. */
export async function install(folder: string, options: { upstream: string; accounts: number }): Promise<Installation> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'tollgate.yaml')
  await writeFile(file, configuration(options.upstream))
  const environment = { TOLLGATE_CONFIG: file, TOLLGATE_DATA: join(folder, 'data'), TOLLGATE_DEMO: '0' }
  return Object.freeze({
    environment,
    keys: await withDatabase(environment, (database) => issueKeys(database, options.accounts)),
    books: () => withDatabase(environment, readBooks),
  })
}

/** `./tollgate verify`. Throws with what it printed unless the books are in order. */
export async function verify({ environment }: Installation): Promise<void> {
  await promisify(execFile)(join(root, 'tollgate'), ['verify', '--json'], { env: { ...process.env, ...environment } })
}

const configuration = (upstream: string): string => `
models:
  - id: fast
    engine: openai
    endpoints: [{ url: "${upstream}", key: none }]
    upstream_model: m
    context: 32768
    max_output_tokens: 4096
    price: { input: "0.15", output: "0.60" }
`

async function issueKeys(database: Database, count: number): Promise<string[]> {
  const accounts = createAccounts({ database })
  const keys = createKeys({ database, log: pino({ level: 'silent' }) })
  const issued: string[] = []
  for (let number = 1; number <= count; number++) {
    const name = `Account ${number}`
    const limits = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 }
    const { id } = await accounts.create({ name, ...limits, credit: 1_000_000n * 10n ** 12n }, byService)
    issued.push((await keys.create({ accountId: id, name, allowedModels: null, expiresAt: null }, byService)).key)
  }
  await keys.close()
  return issued
}

async function readBooks(database: Database): Promise<Books> {
  const [books] = await database.rows<{ ledger: bigint; holds: bigint; durable: boolean }>(`
    select (select count(*) from ledger) as ledger, (select count(*) from hold) as holds,
      current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as durable`)
  if (!books) throw new Error('The database has no books.')
  return { ledgerRows: Number(books.ledger), holds: Number(books.holds), durable: books.durable }
}

/** Opens the database of an installation for as long as the work takes. */
async function withDatabase<T>(
  environment: Record<string, string>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { stdout, stderr } = process
  const context = createContext({ environment: { ...process.env, ...environment }, root, stdout, stderr })
  try {
    return await work(await context.database())
  } finally {
    await context.close()
  }
}
