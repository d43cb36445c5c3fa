import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bareEnvironment, type Binaries } from './binaries.ts'
import type { ClusterFiles } from './cluster-files.ts'
import type { Launcher } from './user.ts'
import { isRunning, isPidInUse, sendSignal, workersIn, worksIn } from '../system/processes.ts'
import { giveToFolderOwner } from '../system/folder.ts'
import { OperatorError } from '../problems.ts'

export type ServerSettings = Readonly<Record<string, string>>

/** The running server of a cluster. The port is 0 until it listens. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
  readonly stopping: boolean
}

const settingsOf = (port: number, { cluster }: ClusterFiles): ServerSettings => ({
  listen_addresses: '127.0.0.1',
  port: String(port),
  // Nothing connects to the socket: it only tells processes in other containers that the cluster is in use.
  unix_socket_directories: fitsSocket(cluster) ? cluster : '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  fsync: 'on',
  // Error details contain values of rows, which may be text of clients.
  log_error_verbosity: 'terse',
})

const largestLog = 10 * 1024 * 1024
// Recovery from a crash during heavy work can take minutes. Transient errors are retried for longestRetry.
const longestStart = 300_000
const longestRetry = 30_000

/** Reads postmaster.pid, if its process is the server of this cluster. */
export async function readRunning(files: ClusterFiles): Promise<RunningServer | undefined> {
  const lines = await readPidFile(files)
  const pid = Number(lines[0])
  if (!(pid > 0) || !isRunning(pid) || !worksIn(pid, files.cluster)) return undefined
  const state = lines[7]?.trim()
  return { pid, port: Number(lines[3] ?? 0), ready: state === 'ready', stopping: state === 'stopping' }
}

/** The path of a socket can have at most 103 bytes on macOS. PostgreSQL's list of folders would need quotes around a path with a comma. */
function fitsSocket(cluster: string): boolean {
  return Buffer.byteLength(socketFile(cluster, 65_535)) <= 103 && !/[",]/.test(cluster)
}

/**
 * Starts the server, on a newly chosen port at each attempt, and waits until it accepts connections. It outlives this
 * process and its terminal. Throws OperatorError, or the signal's reason after stopping the server. The caller must hold the
 * cluster's file lock.
 */
export async function startServer(
  files: ClusterFiles,
  binaries: Binaries,
  launcher: Launcher,
  options: { choosePort: () => Promise<number>; settings: ServerSettings; signal?: AbortSignal | undefined },
): Promise<number> {
  const deadline = Date.now() + longestRetry
  for (;;) {
    options.signal?.throwIfAborted()
    const port = await options.choosePort()
    const settings = { ...settingsOf(port, files), ...options.settings }
    const failure = await attempt(files, binaries, launcher, { settings, signal: options.signal })
    if (failure === undefined) return port
    if (Date.now() > deadline || !/pre-existing shared memory|could not (?:bind|create any)/.test(failure)) {
      throw new OperatorError(await explain(failure, files))
    }
    // Orphaned processes of a killed server hold its shared memory until they notice that it is gone.
    for (const pid of workersIn(files.cluster)) sendSignal(pid, 'SIGQUIT')
    await wait(100)
  }
}

/** Stops the server (fast shutdown). After a minute, forces an immediate shutdown. */
export async function stopServer({ pid }: RunningServer): Promise<void> {
  sendSignal(pid, 'SIGINT')
  if (await isGone(pid, 60_000)) return
  sendSignal(pid, 'SIGQUIT')
  await isGone(pid, 10_000)
}

/** Kills a server that is stuck, and its processes. The next start recovers all committed data. */
export async function endServer({ pid }: Pick<RunningServer, 'pid'>, files: ClusterFiles): Promise<void> {
  sendSignal(pid, 'SIGQUIT')
  if (await isGone(pid, 10_000)) return
  for (const each of [pid, ...workersIn(files.cluster)]) sendSignal(each, 'SIGKILL')
  await isGone(pid, 10_000)
}

/**
 * Stops a server that does not accept connections yet. Recovery restarts at the next start. The checkpoint at the end of
 * recovery ignores SIGINT, so the server is killed if necessary.
 */
export async function abandonServer(server: Pick<RunningServer, 'pid'>, files: ClusterFiles): Promise<void> {
  sendSignal(server.pid, 'SIGINT')
  if (!(await isGone(server.pid, 3000))) await endServer(server, files)
}

/** Whether the port is free now. False for port 0. */
export async function isFree(port: number): Promise<boolean> {
  return port !== 0 && (await tryPort(port)) !== undefined
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  return (await tryPort(0)) ?? Promise.reject(new OperatorError('No port on 127.0.0.1 is free for the database.'))
}

async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return undefined
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? address?.port : undefined
}

/** Returns PostgreSQL's error message, or undefined when the server is ready. */
async function attempt(
  files: ClusterFiles,
  binaries: Binaries,
  launcher: Launcher,
  { settings, signal }: { settings: ServerSettings; signal: AbortSignal | undefined },
): Promise<string | undefined> {
  await refuseUnseen(files)
  await removeForeignFiles(files)
  const log = await openLog(files)
  const before = (await log.stat()).size
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { file, args, identity } = launcher(binaries.postgres, ['-D', files.cluster, ...options])
  const child = spawn(file, args, {
    ...identity,
    env: bareEnvironment,
    cwd: '/',
    // A separate session, so that Ctrl-C in our terminal does not reach it.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  let failed = false
  child.on('error', () => (failed = true)).on('exit', () => (failed = true))
  try {
    for (const deadline = Date.now() + longestStart; Date.now() < deadline; await wait(10)) {
      if (failed) return startupError(await readFile(files.log, 'utf8').then((text) => text.slice(before)))
      const running = await readRunning(files)
      if (running?.ready === true && running.pid === child.pid) return undefined
      if (signal?.aborted && child.pid !== undefined) await abandonServer({ pid: child.pid }, files)
      signal?.throwIfAborted()
    }
    return 'it is still recovering after five minutes; try again later'
  } finally {
    child.unref()
    await log.close()
  }
}

async function openLog(files: ClusterFiles): Promise<FileHandle> {
  const old = await stat(files.log).catch(() => undefined)
  if (old !== undefined && old.size > largestLog) await rename(files.log, `${files.log}.1`)
  const log = await open(files.log, 'a', 0o600)
  await giveToFolderOwner(files.log)
  return log
}

/**
 * A server in another container has a process id and shared memory of its own there, so neither Tollgate nor PostgreSQL would notice
 * it, and two servers would destroy the database. Only its socket can be reached.
 */
async function refuseUnseen(files: ClusterFiles): Promise<void> {
  const port = Number((await readPidFile(files))[3])
  if (!(port > 0) || !(await answers(socketFile(files.cluster, port)))) return
  throw new OperatorError(
    `The database in ${files.cluster} is in use by a server that this process cannot see, such as one in another container: ` +
      'run the command in that container, as "docker exec" does, or stop it first.',
  )
}

function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(socket)
    connection
      .on('error', () => resolve(false))
      .on('connect', () => {
        connection.destroy()
        resolve(true)
      })
  })
}

/**
 * PostgreSQL refuses to start while any process has the id in postmaster.pid or in the lock file of its socket, even another
 * program, as after a restart of a container, or a zombie. It removes files with an unused id itself.
 */
async function removeForeignFiles(files: ClusterFiles): Promise<void> {
  const [first, , , port] = await readPidFile(files)
  const pid = Number(first)
  if (!(pid > 0) || !isPidInUse(pid) || worksIn(pid, files.cluster)) return
  await rm(pidFile(files), { force: true })
  await rm(`${socketFile(files.cluster, Number(port))}.lock`, { force: true })
}

/** The lines of postmaster.pid; none if there is no such file. PostgreSQL's pidfile.h documents them. */
async function readPidFile(files: ClusterFiles): Promise<readonly string[]> {
  const text = await readFile(pidFile(files), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text.split('\n')
}

function startupError(log: string): string {
  const lines = log.trim().split('\n')
  const fatal = lines.findLast((line) => /FATAL:|PANIC:/.test(line)) ?? lines.at(-1) ?? ''
  const cause = lines.find((line) => /could not bind|No space left/.test(line)) ?? fatal
  return cause.replace(/^.*?(?:FATAL|PANIC|LOG|ERROR): +/, '')
}

async function explain(failure: string, files: ClusterFiles): Promise<string> {
  if (failure.includes('No space left on device'))
    return `The disk of ${files.root} is full: the database cannot start.`
  if (failure.includes('incompatible with server')) {
    const version = await readFile(join(files.cluster, 'PG_VERSION'), 'utf8')
    return (
      `The database in ${files.cluster} is from PostgreSQL ${version.trim()}, which this version of Tollgate cannot open: ` +
      `use the version that created it. Its log is ${files.log}.`
    )
  }
  return `The database in ${files.cluster} did not start: ${failure}. Its log is ${files.log}.`
}

async function isGone(pid: number, patience: number): Promise<boolean> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await wait(10)) {
    if (!isRunning(pid)) return true
  }
  return false
}

function pidFile(files: ClusterFiles): string {
  return join(files.cluster, 'postmaster.pid')
}

function socketFile(cluster: string, port: number): string {
  return join(cluster, `.s.PGSQL.${port}`)
}
