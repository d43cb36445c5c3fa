import { randomUUIDv7 } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { byService, personActor } from '../../src/access/actor.ts'
import { stringify } from 'yaml'
import { createAccounts, type NewAccount } from '../../src/accounts/accounts.ts'
import type { KeyRequest } from '../../src/accounts/keys/keys.ts'
import { createLedger, type LedgerRow } from '../../src/billing/reports/ledger.ts'
import { createPrices } from '../../src/billing/prices/prices.ts'
import { verifyBooks } from '../../src/billing/verify.ts'
import { loadConfig, type Config } from '../../src/platform/config/config.ts'
import { openDatabase, type Database, type DatabasePatience } from '../../src/platform/database/database.ts'
import { openService, type Service as Instance } from '../../src/service.ts'
import type { AdditionalMethods } from '../../src/signin/open.ts'
import { createTestDatabase, patience } from './database.ts'
import { smallEmbedder } from './embedding-model.ts'
import { readAnswer, type Answer } from './answer.ts'
import { objectAt } from './json.ts'
import { createTestLog } from './log.ts'
import { inTime } from './until.ts'

export interface ServiceOptions {
  /** `models` of the configuration file. */
  readonly models: readonly object[]
  readonly aliases?: Readonly<Record<string, string>>
  readonly requestBytes?: string
  /** More `limits` of the configuration file. */
  readonly limits?: object
  /** `limits.fetch_hosts` of the configuration file. */
  readonly fetchHosts?: readonly string[]
  readonly metricsToken?: string
  /** `sign_in` and `session` of the configuration file. */
  readonly signIn?: object
  readonly session?: object
  /** The address of a mail server. */
  readonly mail?: string
  /** `firm` of the configuration file. */
  readonly firm?: object
  /** `sms` of the configuration file. */
  readonly sms?: object
  readonly trustedProxies?: readonly string[]
  /** `alerts` of the configuration file. */
  readonly alerts?: object
  /** `letters` of the configuration file. */
  readonly letters?: object
  /** `drafting` of the configuration file. */
  readonly drafting?: object
  /** `try_it` of the configuration file. */
  readonly tryIt?: object
  /** `invoicing` and `currency` of the configuration file. */
  readonly invoicing?: object
  readonly currency?: string
  /** `retention` of the configuration file. */
  readonly retention?: object
  /** `documents` of the configuration file. */
  readonly documents?: object
  /** The URL of a migrated database, to start a second instance on it. Default: a new database. */
  readonly databaseUrl?: string
  /** ms that idle connections stay open when the instance closes. Default 0. */
  readonly idleGrace?: number
  /** ms between two looks for drafts whose instances have stopped. */
  readonly recoveryPause?: number
  /** Default: longer than a busy machine takes. */
  readonly patience?: DatabasePatience
  /** Sign-in methods and second factors besides the configured ones. */
  readonly additional?: AdditionalMethods
}

interface Sending {
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** An account and its key. */
export interface Customer {
  readonly accountId: string
  readonly keyId: string
  readonly key: string
}

/** An account's rows in the database. */
export interface Books {
  readonly rows: readonly LedgerRow[]
  readonly holds: number
  readonly held: bigint
  readonly charged: bigint
  readonly creditLeft: bigint
}

/** The start of links in responses. */
const baseUrl = 'https://tollgate.test'
/** The same for all instances, since they may share a database. */
export const encryptionKey = Buffer.alloc(32, 7)

/** A complete instance on a free port of 127.0.0.1, with real database, keys, till and models. */
export type Service = Awaited<ReturnType<typeof startService>>

export async function startService(options: ServiceOptions) {
  const fresh = options.databaseUrl === undefined ? await createTestDatabase() : undefined
  const databaseUrl = options.databaseUrl ?? fresh?.url ?? ''
  const { log, text: logText } = createTestLog()
  const instance = await openService({
    config: await configure(options),
    databaseUrl,
    log,
    idleGrace: options.idleGrace ?? 0,
    ...(options.recoveryPause !== undefined && { recoveryPause: options.recoveryPause }),
    patience: options.patience ?? patience,
    ...(options.additional && { additional: options.additional }),
  })
  // Tests read through their own connections.
  const database = openDatabase(databaseUrl, { log, connections: 2 })
  const prices = createPrices({ database, log })
  await instance.app.listen({ port: 0, host: '127.0.0.1' })
  const url = instance.app.listeningOrigin
  const { accounts, keys, people, sessions } = instance

  /** Closes everything, and asserts that the books are correct. */
  async function close(): Promise<void> {
    await instance.close()
    await prices.close()
    const verdict = await verifyBooks(database)
    await database.close()
    await fresh?.drop()
    const faults = verdict.checks.filter(({ ok }) => !ok)
    if (!verdict.ok) throw new Error(`the books are wrong: ${inspect(faults, { depth: 4 })}`)
  }

  return {
    url,
    app: instance.app,
    records: instance.records,
    baseUrl,
    port: Number(new URL(url).port),
    databaseUrl,
    database,
    accounts,
    keys,
    people,
    sessions,
    prices,
    logText,
    customer: (account: Partial<NewAccount> = {}, key: Partial<KeyRequest> = {}) =>
      createCustomer(instance, account, key),
    /** Creates a client of a new consultant. Returns its id. */
    client: () => createClient(instance),
    /** Starts a session of the person, who has just proved who they are unless `provenAt` is null. Returns its Cookie header. */
    async signIn({ id, provenAt }: { readonly id: string; readonly provenAt?: null }): Promise<string> {
      const { value } = await sessions.start({
        personId: id,
        method: 'test',
        factors: ['test', 'another'],
        ...(provenAt === null && { provenAt }),
      })
      return `session=${value}`
    },
    /** A request with a key. `body` is sent as JSON, or unchanged if it is a string. */
    call: (address: string, key: string | undefined, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
      call(`${url}${address}`, key, body, headers),
    /** The same for a caller who reads the response as it arrives, or disconnects. */
    post: (address: string, key: string, body: object, { signal, headers = {} }: Sending = {}): Promise<Response> =>
      fetch(`${url}${address}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    /** Waits until every model can be called; `/readyz` is 200 once one can. */
    untilReady: () => inTime('loading the models', ready(`${url}/readyz`)),
    books: (accountId: string) => readBooks(database, accountId),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function ready(address: string): Promise<void> {
  for (;;) {
    const { json } = await call(address, undefined, undefined, {})
    if (Object.values(objectAt(json, 'checks', 'models')).every((isReady) => isReady === true)) return
    await sleep(50)
  }
}

/** The configuration of a model of an upstream. */
export function upstreamModel(url: string, changes: Readonly<Record<string, unknown>> = {}): object {
  return {
    id: 'fast',
    engine: 'openai',
    endpoints: [{ url }],
    upstream_model: 'm',
    context: 32_768,
    max_output_tokens: 4096,
    price: { input: '0.15', output: '0.60' },
    ...changes,
  }
}

/** The configuration of the model that the repository ships. */
export function shippedModel(changes: Readonly<Record<string, unknown>> = {}): object {
  return {
    id: 'tiny',
    engine: 'local',
    file: path.resolve('models/tiny/tiny.gguf'),
    context: 1024,
    max_output_tokens: 512,
    parallel: 8,
    price: { input: '0.10', output: '0.40' },
    ...changes,
  }
}

/** The configuration of a local embedding model. */
export function localEmbedder(file: string, changes: Readonly<Record<string, unknown>> = {}): object {
  const { context } = smallEmbedder
  return { id: 'embedder', engine: 'local', kind: 'embeddings', file, context, price: { input: '0.02' }, ...changes }
}

async function configure(options: ServiceOptions): Promise<Config> {
  const { models, aliases, requestBytes, fetchHosts, metricsToken, signIn, session } = options
  const mail = options.mail === undefined ? undefined : { url: options.mail, from: 'Tollgate <tollgate@firm.example>' }
  const root = await mkdtemp(path.join(tmpdir(), 'tollgate-service-'))
  const file = path.join(root, 'tollgate.yaml')
  const hosts = fetchHosts && { fetch_hosts: fetchHosts }
  const limits = { request_bytes: requestBytes ?? '1MiB', ...hosts, ...options.limits }
  const metrics = metricsToken === undefined ? {} : { metrics: { token: metricsToken } }
  const portal = { ...(signIn && { sign_in: signIn }), ...(session && { session }), ...(mail && { mail }) }
  const others = { ...(options.sms && { sms: options.sms }), ...(options.firm && { firm: options.firm }) }
  const listen = { listen: { trusted_proxies: options.trustedProxies ?? [] } }
  await writeFile(
    file,
    stringify({
      base_url: baseUrl,
      encryption_key: encryptionKey.toString('base64'),
      models,
      aliases: aliases ?? {},
      limits,
      ...metrics,
      ...portal,
      ...others,
      ...listen,
      ...(options.alerts && { alerts: options.alerts }),
      ...(options.letters && { letters: options.letters }),
      ...(options.drafting && { drafting: options.drafting }),
      ...(options.tryIt && { try_it: options.tryIt }),
      ...(options.invoicing && { invoicing: options.invoicing }),
      ...(options.currency !== undefined && { currency: options.currency }),
      ...(options.retention && { retention: options.retention }),
      ...(options.documents && { documents: options.documents }),
    }),
  )
  try {
    return loadConfig({ environment: { TOLLGATE_CONFIG: file }, root })
  } finally {
    await rm(root, { recursive: true })
  }
}

async function createCustomer(
  { accounts, keys }: Instance,
  account: Partial<NewAccount>,
  key: Partial<KeyRequest>,
): Promise<Customer> {
  const money = account.monthlyLimit === undefined ? { credit: 10n ** 15n } : {}
  const { id } = await accounts.create(
    {
      name: `Customer ${randomUUIDv7()}`,
      requestsPerMinute: 100_000,
      tokensPerMinute: 10_000_000,
      ...money,
      ...account,
    },
    byService,
  )
  const made = await keys.create(
    { accountId: id, name: 'test', allowedModels: null, expiresAt: null, ...key },
    byService,
  )
  return { accountId: id, keyId: made.id, key: made.key }
}

async function createClient({ people, records }: Instance): Promise<string> {
  const name = `Consultant ${randomUUIDv7()}`
  const { id } = await people.create({ name, email: `${randomUUIDv7()}@firm.example`, role: 'consultant' }, byService)
  return (await records.clients.create({ actor: personActor({ id, role: 'consultant' }) }, { name: 'Client' })).id
}

async function call(
  address: string,
  key: string | undefined,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const content = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(address, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...authorization, ...content, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return readAnswer(response)
}

async function readBooks(database: Database, accountId: string): Promise<Books> {
  const rows = await createLedger({ database }).page({ accountId, limit: 10_000 })
  const [holds] = await database.rows<{ count: bigint }>('select count(*) from hold where account_id = $1', [accountId])
  const account = await createAccounts({ database }).show(accountId)
  const { held, charged, creditLeft } = account
  return { rows, holds: Number(holds?.count), held, charged, creditLeft }
}
