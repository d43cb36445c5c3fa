import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bareEnvironment, type Binaries } from './binaries.ts'
import type { Place } from './place.ts'
import type { Launcher } from './user.ts'
import { isRunning, isTaken, tell, workersIn, worksIn } from '../system/processes.ts'
import { OperatorError } from '../problems.ts'

export type Settings = Readonly<Record<string, string>>

/** A server that runs on the cluster; port 0 until it listens. */
export interface Running {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
  readonly stopping: boolean
}

const settingsOf = (port: number): Settings => ({
  listen_addresses: '127.0.0.1',
  port: String(port),
  // None: the path of one may have 107 bytes only.
  unix_socket_directories: '',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  fsync: 'on',
  // Details hold the values of rows, which may be answers to prompts.
  log_error_verbosity: 'terse',
})

const largestLog = 10 * 1024 * 1024
// A crash in the middle of heavy work can take minutes to recover from; for a fault that may pass we wait this long.
const longestStart = 300_000
const longestRetry = 30_000

/** What postmaster.pid says, if its process is the server of this cluster: its lines are listed in PostgreSQL's pidfile.h. */
export async function readRunning(place: Place): Promise<Running | undefined> {
  const text = await readFile(pidFile(place), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!(pid > 0) || !isRunning(pid) || !worksIn(pid, place.cluster)) return undefined
  const state = lines[7]?.trim()
  return { pid, port: Number(lines[3] ?? 0), ready: state === 'ready', stopping: state === 'stopping' }
}

/**
 * Starts the server on the port that is asked for, anew on each try, and waits until it takes connections. It outlives
 * this process and its terminal. Throws OperatorError, and the reason of the signal when that is aborted before: the
 * server is ended then. Only under the place's lock.
 */
export async function startServer(
  place: Place,
  binaries: Binaries,
  launcher: Launcher,
  options: { choosePort: () => Promise<number>; settings: Settings; signal?: AbortSignal | undefined },
): Promise<number> {
  const deadline = Date.now() + longestRetry
  for (;;) {
    options.signal?.throwIfAborted()
    const port = await options.choosePort()
    const settings = { ...settingsOf(port), ...options.settings }
    const failure = await attempt(place, binaries, launcher, { settings, signal: options.signal })
    if (failure === undefined) return port
    if (Date.now() > deadline || !/pre-existing shared memory|could not (?:bind|create any)/.test(failure)) {
      throw new OperatorError(explain(failure, place))
    }
    // What a killed server leaves behind holds its memory until it next looks for the server: it may leave now.
    for (const pid of workersIn(place.cluster)) tell(pid, 'SIGQUIT')
    await wait(100)
  }
}

/** Stops the server after its present statements; by force if it does not heed that within a minute. */
export async function stopServer({ pid }: Running): Promise<void> {
  tell(pid, 'SIGINT')
  if (await isGone(pid, 60_000)) return
  tell(pid, 'SIGQUIT')
  await isGone(pid, 10_000)
}

/** Ends a server that gets no further, and its processes: what was committed is recovered at the next start. */
export async function endServer({ pid }: Pick<Running, 'pid'>, place: Place): Promise<void> {
  tell(pid, 'SIGQUIT')
  if (await isGone(pid, 10_000)) return
  for (const each of [pid, ...workersIn(place.cluster)]) tell(each, 'SIGKILL')
  await isGone(pid, 10_000)
}

/**
 * Ends a server that takes no connections yet and is not waited for any more. A recovery begins anew at the next start;
 * what it writes at its end it does not break off, and is made to.
 */
export async function abandonServer(server: Pick<Running, 'pid'>, place: Place): Promise<void> {
  tell(server.pid, 'SIGINT')
  if (!(await isGone(server.pid, 3000))) await endServer(server, place)
}

/** Whether the port can be listened on at this moment; port 0 stands for none. */
export async function isFree(port: number): Promise<boolean> {
  return port !== 0 && (await tryPort(port)) !== undefined
}

/** A port that nobody listens on at this moment. */
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

/** One try. Returns what went wrong, in PostgreSQL's words, or undefined when the server is ready. */
async function attempt(
  place: Place,
  binaries: Binaries,
  launcher: Launcher,
  { settings, signal }: { settings: Settings; signal: AbortSignal | undefined },
): Promise<string | undefined> {
  await removeForeignPidFile(place)
  const log = await openLog(place)
  const before = (await log.stat()).size
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const { file, args, identity } = launcher(binaries.postgres, ['-D', place.cluster, ...options])
  const child = spawn(file, args, {
    ...identity,
    env: bareEnvironment,
    cwd: '/',
    // A session of its own, so that Ctrl-C on our terminal does not reach it.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  let failed = false
  child.on('error', () => (failed = true)).on('exit', () => (failed = true))
  try {
    for (const deadline = Date.now() + longestStart; Date.now() < deadline; await wait(10)) {
      if (failed) return lastWords(await readFile(place.log, 'utf8').then((text) => text.slice(before)))
      const running = await readRunning(place)
      if (running?.ready === true && running.pid === child.pid) return undefined
      if (signal?.aborted && child.pid !== undefined) await abandonServer({ pid: child.pid }, place)
      signal?.throwIfAborted()
    }
    return 'it is still recovering after five minutes; try again later'
  } finally {
    child.unref()
    await log.close()
  }
}

async function openLog(place: Place): Promise<FileHandle> {
  const old = await stat(place.log).catch(() => undefined)
  if (old !== undefined && old.size > largestLog) await rename(place.log, `${place.log}.1`)
  return open(place.log, 'a', 0o600)
}

/**
 * PostgreSQL refuses to start while a process has the id in its file, be it another program by now, as after a restart
 * of a container, or a zombie. For an id that nobody has it looks by itself.
 */
async function removeForeignPidFile(place: Place): Promise<void> {
  const text = await readFile(pidFile(place), 'utf8').catch(() => '')
  const pid = Number(text.split('\n')[0])
  if (pid > 0 && isTaken(pid) && !worksIn(pid, place.cluster)) await rm(pidFile(place), { force: true })
}

function lastWords(log: string): string {
  const lines = log.trim().split('\n')
  const fatal = lines.findLast((line) => /FATAL:|PANIC:/.test(line)) ?? lines.at(-1) ?? ''
  const cause = lines.find((line) => /could not bind|No space left/.test(line)) ?? fatal
  return cause.replace(/^.*?(?:FATAL|PANIC|LOG|ERROR): +/, '')
}

function explain(failure: string, place: Place): string {
  if (failure.includes('No space left on device'))
    return `The disk of ${place.root} is full: the database cannot start.`
  return `The database in ${place.cluster} did not start: ${failure}. Its log is ${place.log}.`
}

async function isGone(pid: number, patience: number): Promise<boolean> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await wait(10)) {
    if (!isRunning(pid)) return true
  }
  return false
}

function pidFile(place: Place): string {
  return join(place.cluster, 'postmaster.pid')
}
