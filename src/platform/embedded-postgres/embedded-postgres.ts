import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { codeOf, isAway } from '../database/failure.ts'
import { findBinaries } from './binaries.ts'
import { prepareCluster } from './cluster.ts'
import { embeddedFault } from './fault.ts'
import { databaseName, giveUp, takeLease, type Lease } from './lease.ts'
import { addressOf, preparePlace, readAccess, writeAccess, type Place } from './place.ts'
import { watchRecovery } from './progress.ts'
import {
  abandonServer,
  endServer,
  freePort,
  isFree,
  readRunning,
  startServer,
  stopServer,
  type Settings,
} from './server.ts'
import { withFileLock } from '../system/file-lock.ts'
import { OperatorError } from '../problems.ts'

export interface Embedded {
  /** The address of the database, the same for as long as this is open. */
  readonly url: string
  /** Lets go of the server; the last process to do so stops it. May be called again. */
  close(): Promise<void>
}

export interface EmbeddedOptions {
  /** The data folder; made if it is not there. */
  readonly directory: string
  readonly log: Logger
  /** PostgreSQL settings on top of ours, for the server if this starts it. */
  readonly settings?: Settings
  /**
   * ms after which a server is started anew that recovers without getting any further, or that was told to stop and waits
   * for its users; a minute unless told.
   */
  readonly stuckAfter?: number
  /**
   * Aborted while the database is being opened, it makes that reject with its reason, soon: a server that still starts or
   * recovers is ended, and others who wait for it start it anew.
   */
  readonly signal?: AbortSignal
}

const longestWait = 300_000
const longestStuck = 60_000
/** ms between two looks at a server that takes no connections. */
const pause = 20

/**
 * Opens the PostgreSQL that comes with Tollgate on a data folder. Any number of processes may do so: the first starts
 * the server, the others use it, and when it dies while it is in use it is started again on the same port. Recovers by
 * itself from a kill of any of them. Throws OperatorError, one line, when the folder or the server cannot be used.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  try {
    const place = await preparePlace(options.directory)
    const lease = await withFileLock(place.lock, () => enter(place, options), { signal: options.signal })
    const access = await readAccess(place)
    return Object.freeze({
      url: addressOf({ ...access, port: lease.port }, databaseName),
      close: supervise(place, lease, options),
    })
  } catch (error) {
    options.signal?.throwIfAborted()
    throw embeddedFault(error, options.directory)
  }
}

/** Keeps a lease for as long as it is wanted. Returns what ends that. */
function supervise(place: Place, first: Lease, { log, ...options }: EmbeddedOptions): () => Promise<void> {
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
      log.warn('the embedded database is away; it is started again')
      recovering = recover()
      await recovering
    }
  }
  async function recover(): Promise<void> {
    while (!signal.aborted) {
      try {
        lease = await withFileLock(place.lock, () => enter(place, { ...options, log, signal }, first.port), { signal })
        return log.info('the embedded database is back')
      } catch (error) {
        if (signal.aborted) return
        log.error(
          { reason: error instanceof Error ? error.message : String(error) },
          'the embedded database stays away',
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
      // What is lost already is not to be given up, for which others who start the server would have to be waited for.
      if (held !== undefined) await withFileLock(place.lock, () => giveUp(place, held))
    } catch (error) {
      throw embeddedFault(error, place.root)
    } finally {
      await held?.client.end()
      await supervision
    }
  }
  return () => (closed ??= leave())
}

/** Uses the server that runs, or starts it, and takes a lease. A port that is asked for is kept to. */
async function enter(place: Place, options: EmbeddedOptions, port?: number): Promise<Lease> {
  const { settings = {}, signal } = options
  const running = await adopt(place, options, port)
  if (running !== undefined) return running
  const binaries = await findBinaries()
  const launcher = await prepareCluster(place, binaries, settings)
  const access = await readAccess(place)
  const choosePort = () => (port === undefined ? preferred(access.port) : required(port))
  const started = await startServer(place, binaries, launcher, { choosePort, settings, signal })
  if (started !== access.port) await writeAccess(place, { ...access, port: started })
  try {
    return await takeLease({ ...access, port: started })
  } catch (error) {
    const server = await readRunning(place)
    if (server !== undefined) await stopServer(server)
    throw error
  }
}

/** Joins the server that runs on the cluster, if one does, once it takes connections. One that hangs is ended. */
async function adopt(place: Place, options: EmbeddedOptions, port?: number): Promise<Lease | undefined> {
  const { log, stuckAfter = longestStuck, signal } = options
  const isStuck = watchRecovery(place.cluster, stuckAfter)
  let patience = stuckAfter
  let hasTried = false
  for (const deadline = Date.now() + longestWait; Date.now() < deadline; await wait(pause)) {
    const running = await readRunning(place)
    if (running === undefined) return undefined
    // Who is not to wait still enters where that can be done at once, and leaves in order.
    if (hasTried && signal?.aborted && !running.stopping) await abandonServer(running, place)
    if (hasTried) signal?.throwIfAborted()
    hasTried = true
    // Told to stop when all have left, it takes nobody in and waits for those who have not, who wait for this one.
    if (running.stopping && (patience -= pause) <= 0) {
      log.warn({ pid: running.pid }, 'the embedded database waits for its users to leave; it is started anew')
      await stopServer(running)
    }
    if (!running.ready) continue
    if (port !== undefined && running.port !== port) throw new OperatorError(moved(port, running.port))
    const access = await readAccess(place)
    // A kill between the start of the server and this line of the file leaves the file behind.
    if (access.port !== running.port) await writeAccess(place, { ...access, port: running.port })
    try {
      return await takeLease({ ...access, port: running.port })
    } catch (error) {
      // It may have begun to stop in this very moment.
      if (!isGoing(error)) throw error
      if (codeOf(error) !== recovering || !isStuck()) continue
      log.warn({ pid: running.pid }, 'the embedded database recovers without getting any further; it is started anew')
      await endServer(running, place)
    }
  }
  throw new OperatorError(`The database in ${place.cluster} neither starts nor stops: its log is ${place.log}.`)
}

/** The SQLSTATE of a server that is up and does not take connections yet, or any more. */
const recovering = '57P03'

function isGoing(error: unknown): boolean {
  const code = codeOf(error)
  return isAway(error) ? code !== '53300' : code === 'ECONNREFUSED' || code === 'ECONNRESET'
}

function moved(from: number, to: number): string {
  return `The embedded database has moved from port ${from} to ${to}: start this process again.`
}

/** The port of the last time, so that whoever still knows it finds the server again. */
async function preferred(port: number): Promise<number> {
  return (await isFree(port)) ? port : freePort()
}

async function required(port: number): Promise<number> {
  if (await isFree(port)) return port
  throw new OperatorError(`Another program listens on port ${port}, which the embedded database had.`)
}
