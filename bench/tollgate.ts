import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { pino } from 'pino'
import { byService } from '../src/access/actor.ts'
import { createAccounts } from '../src/accounts/accounts.ts'
import { createBudgets } from '../src/accounts/budgets/budgets.ts'
import { createKeys, type KeyLimits } from '../src/accounts/keys/keys.ts'
import { createContext } from '../src/commands/context.ts'
import type { Database } from '../src/platform/database/database.ts'
import {
  prepareDataFolder,
  readCredentials,
  superuserAddressOf,
} from '../src/platform/embedded-postgres/cluster-files.ts'

export const root = join(import.meta.dirname, '..')

/** An installation of Tollgate as an operator would have it: a configuration file and a data folder. */
export interface Installation {
  readonly environment: Record<string, string>
  /** One key per account. No load reaches their limits. */
  readonly keys: readonly string[]
  /** One key per further account, with budgets and limits of its own. No load reaches those either. */
  readonly limitedKeys: readonly string[]
  /** One key per further account, whose spending counts towards a shared budget. No load reaches it. */
  readonly budgetKeys: readonly string[]
  /** Reads the books. Works whether the service is running or not. */
  books(): Promise<Books>
  /** The process id of the embedded PostgreSQL server. It must be running. */
  databasePid(): Promise<number>
  /** Creates an empty database on that server, and returns its URL. */
  createDatabase(name: string): Promise<string>
}

export interface Books {
  readonly ledgerRows: number
  readonly holds: number
  /** Whether a commit waits for the disk. */
  readonly durable: boolean
}

export interface InstallOptions {
  readonly upstream: string
  readonly accounts: number
  /** Further accounts, whose keys have budgets and limits of their own; default 0. */
  readonly limitedAccounts?: number
  /** Further accounts, each with a shared budget of its key; default 0. */
  readonly budgetAccounts?: number
  /** `listen.processes`; default 1. */
  readonly processes?: number
  /** More of the configuration file. */
  readonly settings?: string
}

/** Creates an installation with one model, `fast`, that calls the upstream. Deletes what the folder contains. */
export async function install(folder: string, options: InstallOptions): Promise<Installation> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const [file, data] = [join(folder, 'tollgate.yaml'), join(folder, 'data')]
  await writeFile(file, configuration(options))
  const environment = { TOLLGATE_CONFIG: file, TOLLGATE_DATA: data, TOLLGATE_DEMO: '0' }
  await runCommand(environment, ['migrate'])
  const keys = await withDatabase(environment, async (database) => ({
    keys: await createAccountsWithKeys(database, 'Account', options.accounts, {}),
    limitedKeys: await createAccountsWithKeys(
      database,
      'Limited account',
      options.limitedAccounts ?? 0,
      generousLimits,
    ),
    budgetKeys: await createAccountsWithKeys(
      database,
      'Account with a budget',
      options.budgetAccounts ?? 0,
      {},
      'Team',
    ),
  }))
  return Object.freeze({
    environment,
    ...keys,
    books: () => withDatabase(environment, readBooks),
    // The first line is the process id (PostgreSQL's pidfile.h).
    databasePid: async () => Number.parseInt(await readFile(join(data, 'postgres/postmaster.pid'), 'utf8'), 10),
    async createDatabase(name: string) {
      const url = await superuserUrl(environment)
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      return Object.assign(new URL(url), { pathname: name }).href
    },
  })
}

/** The address of an installation's embedded database as a superuser. */
export async function superuserUrl({ TOLLGATE_DATA: data = '' }: Installation['environment']): Promise<string> {
  return superuserAddressOf(await readCredentials(await prepareDataFolder(data)), 'tollgate')
}

/** Runs `./tollgate verify`. Throws with its output if it finds a fault. */
export async function verify({ environment }: Installation): Promise<void> {
  await runCommand(environment, ['verify', '--json'])
}

/** Runs a command of Tollgate. Throws with its output if it fails. */
export async function runCommand(environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<void> {
  const options = { env: { ...process.env, ...environment }, maxBuffer: Number.POSITIVE_INFINITY }
  await promisify(execFile)(join(root, 'tollgate'), args, options)
}

/** Runs `verify`, and throws unless the ledger has one row per reply, no hold is left and commits are durable. */
export async function proveBooks(installation: Installation, replies: number): Promise<void> {
  await verify(installation)
  const { ledgerRows, holds, durable } = await installation.books()
  if (ledgerRows !== replies) throw new Error(`${replies} replies, but ${ledgerRows} rows in the ledger`)
  if (holds !== 0) throw new Error(`${holds} holds are left`)
  if (!durable) throw new Error('The database does not wait for the disk, so the figures are worthless.')
}

const configuration = ({ upstream, processes = 1, settings = '' }: InstallOptions): string => `
listen: { processes: ${processes}, trusted_proxies: [127.0.0.1] }
${settings}models:
  - id: fast
    engine: openai
    endpoints: [{ url: "${upstream}", key: none }]
    upstream_model: m
    context: 32768
    max_output_tokens: 4096
    price: { input: "0.15", output: "0.60" }
`

const credit = 1_000_000n * 10n ** 12n
const perMinute = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000 }
const generousLimits = { ...perMinute, dailyBudget: credit, monthlyBudget: credit }

async function createAccountsWithKeys(
  database: Database,
  kind: string,
  count: number,
  limits: Partial<KeyLimits>,
  budgetName?: string,
): Promise<string[]> {
  const accounts = createAccounts({ database })
  const budgets = createBudgets({ database, timeZone: 'UTC' })
  const keys = createKeys({ database, log: pino({ level: 'silent' }) })
  const values: string[] = []
  for (let number = 1; number <= count; number++) {
    const name = `${kind} ${number}`
    const { id } = await accounts.create({ name, ...perMinute, credit }, byService)
    const request = { accountId: id, name, allowedModels: null, expiresAt: null, limits }
    const { key, id: keyId } = await keys.create(request, byService)
    values.push(key)
    if (budgetName !== undefined) {
      const budget = {
        accountId: id,
        name: budgetName,
        keys: [keyId],
        amount: credit,
        period: 'day',
        hard: true,
      } as const
      await budgets.create(budget, byService)
    }
  }
  await keys.close()
  return values
}

async function readBooks(database: Database): Promise<Books> {
  const [books] = await database.rows<{ ledger: bigint; holds: bigint; durable: boolean }>(`
    select (select count(*) from ledger) as ledger, (select count(*) from hold) as holds,
      current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as durable`)
  if (!books) throw new Error('The query of the books returned no row.')
  return { ledgerRows: Number(books.ledger), holds: Number(books.holds), durable: books.durable }
}

/** Opens the database of an installation for the duration of `work`. */
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
