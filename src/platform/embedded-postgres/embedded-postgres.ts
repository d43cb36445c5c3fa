import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { codeOf, isAway } from '../database/failure.ts'
import { findBinaries } from './binaries.ts'
import { prepareCluster } from './cluster.ts'
import { embeddedError } from './embedded-error.ts'
import { databaseName, giveUp, takeLease, type Lease } from './lease.ts'
import { addressOf, prepareDataFolder, readCredentials, writeCredentials, type ClusterFiles } from './cluster-files.ts'
import { watchRecovery } from './recovery.ts'
import {
  abandonServer,
  endServer,
  freePort,
  isFree,
  readRunning,
  startServer,
  stopServer,
  type RunningServer,
  type ServerSettings,
} from './server.ts'
import { withFileLock } from '../system/file-lock.ts'
import { OperatorError } from '../problems.ts'

export interface EmbeddedPostgres {
  /** The URL of the database. It does not change while this is open. */
  readonly url: string
  /** Ends the lease on the server. The last process to do so stops it. Idempotent. */
  close(): Promise<void>
}

export interface EmbeddedOptions {
  /** The data folder, created if it does not exist. */
  readonly directory: string
  readonly log: Logger
  /** Additional PostgreSQL settings, if this process starts the server. */
  readonly settings?: ServerSettings
  /**
   * How long the server may recover without progress, or wait for clients while it stops, before it is restarted. In ms,
   * default one minute.
   */
  readonly stuckAfter?: number
  /**
   * Aborts opening. A server that is still starting or recovering is stopped; other processes that wait for it start it
   * again.
   */
  readonly signal?: AbortSignal
}

const longestWait = 300_000
const longestStuck = 60_000
/** How often to check a server that does not accept connections, in ms. */
const checkEvery = 20

/**
 * Opens the embedded PostgreSQL on a data folder. Several processes can share it: the first one starts the server. If it
 * dies while it is in use, it is restarted on the same port. Any process can be killed without harm to the others. Throws
 * OperatorError, one line, if the folder or the server cannot be used.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    const files = await prepareDataFolder(options.directory)
    const lease = await withFileLock(files.lock, () => enter(files, options), { signal: options.signal })
    const credentials = await readCredentials(files)
    return Object.freeze({
      url: addressOf({ ...credentials, port: lease.port }, databaseName),
      close: supervise(files, lease, options),
    })
  } catch (error) {
    options.signal?.throwIfAborted()
    throw embeddedError(error, options.directory)
  }
}

/** Restarts the server whenever the lease is lost. Returns a function that ends the lease. */
function supervise(files: ClusterFiles, first: Lease, { log, ...options }: EmbeddedOptions): () => Promise<void> {
  let lease: Lease | undefined = first
  const ending = new AbortController()
  const { signal } = ending
  let closed: Promise<void> | undefined
  let recovering: Promise<void> | undefined
  const supervision = keep()

  async function keep(): Promise<void> {
    while (lease !== undefined) {
      await lease.lost
      if (signal.aborted) return
      lease = undefined
      log.warn('the embedded database was lost; restarting it')
      recovering = recover()
      await recovering
    }
  }
  async function recover(): Promise<void> {
    while (!signal.aborted) {
      try {
        lease = await withFileLock(files.lock, () => enter(files, { ...options, log, signal }, first.port), { signal })
        return log.info('the embedded database is back')
      } catch (error) {
        if (signal.aborted) return
        log.error(
          { reason: error instanceof Error ? error.message : String(error) },
          'the embedded database could not be restarted',
        )
        await wait(1000)
      }
    }
  }
  async function leave(): Promise<void> {
    ending.abort()
    await recovering
    const held = lease
    try {
      // A lost lease needs no release, which would wait for processes that restart the server.
      if (held !== undefined) await withFileLock(files.lock, () => giveUp(files, held))
    } catch (error) {
      throw embeddedError(error, files.root)
    } finally {
      await held?.client.end()
      await supervision
    }
  }
  return () => (closed ??= leave())
}

/** Takes a lease on the running server, or starts it. With `port`, only that port is used. */
async function enter(files: ClusterFiles, options: EmbeddedOptions, port?: number): Promise<Lease> {
  const { settings = {}, signal } = options
  const running = await adopt(files, options, port)
  if (running !== undefined) return running
  const binaries = await findBinaries()
  const launcher = await prepareCluster(files, binaries, settings)
  const credentials = await readCredentials(files)
  const choosePort = () => (port === undefined ? preferred(credentials.port) : required(port))
  const started = await startServer(files, binaries, launcher, { choosePort, settings, signal })
  if (started !== credentials.port) await writeCredentials(files, { ...credentials, port: started })
  try {
    return await takeLease({ ...credentials, port: started })
  } catch (error) {
    const server = await readRunning(files)
    if (server !== undefined) await stopServer(server)
    throw error
  }
}

/** Takes a lease on a running server once it accepts connections. Stops one that is stuck. */
async function adopt(files: ClusterFiles, options: EmbeddedOptions, port?: number): Promise<Lease | undefined> {
  const { log, stuckAfter = longestStuck, signal } = options
  const isStuck = watchRecovery(files.cluster, stuckAfter)
  let patience = stuckAfter
  for (const deadline = Date.now() + longestWait; Date.now() < deadline; await wait(checkEvery)) {
    const running = await readRunning(files)
    if (running === undefined) return undefined
    const lease = running.ready ? await tryLease(files, running, port) : 'unavailable'
    if (typeof lease !== 'string') return lease
    // Not before the attempt: with a lease, an aborted opening can close in an orderly way.
    if (signal?.aborted && !running.stopping) await abandonServer(running, files)
    signal?.throwIfAborted()
    // A server in smart shutdown waits for its clients, which may wait for this process: a deadlock.
    if (running.stopping && (patience -= checkEvery) <= 0) {
      log.warn({ pid: running.pid }, 'the embedded database waits for its clients to disconnect; restarting it')
      await stopServer(running)
    }
    if (lease === 'recovering' && isStuck()) {
      log.warn({ pid: running.pid }, 'the recovery of the embedded database makes no progress; restarting it')
      await endServer(running, files)
    }
  }
  throw new OperatorError(
    `The database in ${files.cluster} has neither started nor stopped in time. See its log: ${files.log}`,
  )
}

/** Takes a lease, or returns why the server gives none now. */
async function tryLease(
  files: ClusterFiles,
  running: RunningServer,
  port: number | undefined,
): Promise<Lease | 'recovering' | 'unavailable'> {
  if (port !== undefined && running.port !== port) throw new OperatorError(moved(port, running.port))
  const credentials = await readCredentials(files)
  // The process that started the server may have been killed before it wrote the port.
  if (credentials.port !== running.port) await writeCredentials(files, { ...credentials, port: running.port })
  try {
    return await takeLease({ ...credentials, port: running.port })
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return codeOf(error) === cannotConnectNow ? 'recovering' : 'unavailable'
  }
}

/** The SQLSTATE of a server that is starting, recovering or stopping. */
const cannotConnectNow = '57P03'

/** Whether the server may accept connections later. It may have just begun to stop. */
function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  // 53300 is too_many_connections, which can last.
  return isAway(error) ? code !== '53300' : code === 'ECONNREFUSED' || code === 'ECONNRESET'
}

function moved(from: number, to: number): string {
  return `The embedded database has moved from port ${from} to ${to}: restart this process.`
}

/** The previous port, which other processes may still use, or a free one. */
async function preferred(port: number): Promise<number> {
  return (await isFree(port)) ? port : freePort()
}

async function required(port: number): Promise<number> {
  if (await isFree(port)) return port
  throw new OperatorError(`Another program listens on port ${port}, which the embedded database had.`)
}
