import type { Readable, Writable } from 'node:stream'
import type { Logger } from 'pino'
import type { Config, Environment } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'

/** The resources of a command. Each is opened on first use and closed when the command ends. */
export interface Context {
  readonly environment: Environment
  /** The project's folder. */
  readonly root: string
  readonly stdout: Writable
  readonly stderr: Writable
  /** Where the operator answers questions. Default: nobody does. */
  readonly stdin?: Readable
  /** Throws OperatorError with every error of the configuration. */
  config(): Promise<Config>
  /** Silent: a command reports through its output, its one-line error and its exit status. */
  log(): Promise<Logger>
  /**
   * The address of a database that accepts connections. Starts the embedded database if it is not running, and creates it
   * if there is none. Rejects with the reason of the signal if that aborts first.
   */
  databaseUrl(starting?: Starting): Promise<string>
  /**
   * An open pool. Never changes the schema: throws OperatorError, with the command to run, unless the schema is that of
   * this version.
   */
  database(): Promise<Database>
  /**
   * Turns a failure of the database into an OperatorError that names the database and what to do. Returns other errors unchanged.
   */
  faultOf(error: unknown): Promise<unknown>
  close(): Promise<void>
}

/** How `start` opens the database. */
interface Starting {
  readonly log: Logger
  readonly signal: AbortSignal
  /** The connections that an embedded server must allow. */
  readonly connections: number
}

export type ContextNeeds = Pick<Context, 'environment' | 'root' | 'stdout' | 'stderr' | 'stdin'>

export function createContext(needs: ContextNeeds): Context {
  const opened = new AsyncDisposableStack()

  const config = once(async () => {
    const { loadConfig } = await import('../platform/config/config.ts')
    const { configRules, resolvedRules } = await import('./config-rules.ts')
    return loadConfig({ environment: needs.environment, root: needs.root, rules: configRules, resolvedRules })
  })
  const log = once(async (): Promise<Logger> => {
    const { pino } = await import('pino')
    const silent: Logger = pino({ level: 'silent' })
    return silent
  })
  let openedUrl: Promise<string> | undefined
  const openUrl = async ({ connections, ...starting }: Pick<Starting, 'log'> & Partial<Starting>) => {
    const { database: where, data } = await config()
    if (where !== 'embedded') return where
    const settings = connections === undefined ? {} : { max_connections: String(connections) }
    const { openEmbedded } = await import('../platform/embedded-postgres/embedded-postgres.ts')
    const embedded = await openEmbedded({ directory: data, settings, ...starting })
    opened.defer(() => embedded.close())
    return embedded.url
  }
  const databaseUrl = async (starting?: Starting) => (openedUrl ??= openUrl(starting ?? { log: await log() }))
  const database = once(async () => {
    const { database: where, data } = await config()
    if (where === 'embedded') await requireEmbeddedDatabase(data)
    const url = await databaseUrl()
    const { requireCurrentSchema } = await import('../platform/database/migrations.ts')
    await requireCurrentSchema(url)
    const { openDatabase } = await import('../platform/database/database.ts')
    // No statement timeout: a command may read a whole ledger.
    const open = openDatabase(url, { log: await log(), connections: 2, statementTimeout: 0 })
    opened.defer(() => open.close())
    return open
  })

  return Object.freeze<Context>({
    ...needs,
    config,
    log,
    databaseUrl,
    database,
    async faultOf(error) {
      // A database that did not open was reported as such.
      const url = await openedUrl?.catch(() => undefined)
      if (url === undefined) return error
      const { databaseFault } = await import('./database-fault.ts')
      return databaseFault(error, await config(), url)
    },
    close: () => opened.disposeAsync(),
  })
}

async function requireEmbeddedDatabase(data: string): Promise<void> {
  const { hasEmbeddedDatabase } = await import('../platform/embedded-postgres/cluster-files.ts')
  if (hasEmbeddedDatabase(data)) return
  const { OperatorError } = await import('../platform/problems.ts')
  throw new OperatorError(`${data} has no database yet. Create it: ./tollgate migrate, or ./tollgate start`)
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}
