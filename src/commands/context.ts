import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import type { Config, Environment } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'

/** What a command works with. Everything is opened when first asked for and closed when the command has ended. */
export interface Context {
  readonly environment: Environment
  /** The project's folder. */
  readonly root: string
  readonly stdout: Writable
  readonly stderr: Writable
  /** Throws OperatorError with every fault of the configuration. */
  config(): Promise<Config>
  /** Silent: a command speaks through its output, its one line of error and its exit status. */
  log(): Promise<Logger>
  /**
   * The address of the database, which runs from now on: the embedded one is adopted or started, and tells `log` what
   * becomes of it. Rejects with the reason of the signal when that is aborted before it runs.
   */
  databaseUrl(waiting?: Waiting): Promise<string>
  /** Open, with every migration applied. */
  database(): Promise<Database>
  close(): Promise<void>
}

interface Waiting {
  readonly log: Logger
  readonly signal: AbortSignal
}

export type ContextNeeds = Pick<Context, 'environment' | 'root' | 'stdout' | 'stderr'>

export function createContext(needs: ContextNeeds): Context {
  const opened = new AsyncDisposableStack()

  const config = once(async () => {
    const { loadConfig } = await import('../platform/config/config.ts')
    return loadConfig(needs)
  })
  const log = once(async (): Promise<Logger> => {
    const { pino } = await import('pino')
    const silent: Logger = pino({ level: 'silent' })
    return silent
  })
  let openedUrl: Promise<string> | undefined
  const openUrl = async (waiting: Omit<Waiting, 'signal'>) => {
    const { database: where, data } = await config()
    if (where !== 'embedded') return where
    const { openEmbedded } = await import('../platform/embedded-postgres/embedded-postgres.ts')
    const embedded = await openEmbedded({ directory: data, ...waiting })
    opened.defer(() => embedded.close())
    return embedded.url
  }
  const databaseUrl = async (waiting?: Waiting) => (openedUrl ??= openUrl(waiting ?? { log: await log() }))
  const database = once(async () => {
    const url = await databaseUrl()
    const { migrate } = await import('../platform/database/migrations.ts')
    await migrate(url)
    const { openDatabase } = await import('../platform/database/database.ts')
    // No limit of time: what a command asks for may be a whole ledger.
    const open = openDatabase(url, { log: await log(), connections: 2, statementTimeout: 0 })
    opened.defer(() => open.close())
    return open
  })

  return Object.freeze({
    ...needs,
    config,
    log,
    databaseUrl,
    database,
    close: () => opened.disposeAsync(),
  })
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}
