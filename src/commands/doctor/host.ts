import { access, constants, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { OperatorError } from '../../platform/problems.ts'
import type { Context } from '../context.ts'

/** The doctor's checks of this machine: runtime, data folder and port. */

/** The first version of the pinned line that has `crypto.randomUUIDv7`. */
const oldestRuntime = [26, 1] as const

export function checkRuntime(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldestRuntime
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return `Node ${version}`
  throw new OperatorError(
    `Node ${version} is too old: start with ./tollgate, or use Node ${oldestMajor}.${oldestMinor} or newer.`,
  )
}

export async function checkDataFolder(context: Context): Promise<string> {
  const { data, database, encryption_key: key } = await context.config()
  if (database !== 'embedded' && key !== undefined) {
    return 'not needed: the configuration has the database and encryption_key'
  }
  const existing = await nearestExisting(data)
  const found = await stat(existing)
  if (!found.isDirectory()) throw new OperatorError(`${existing} is not a folder: move it, or set TOLLGATE_DATA.`)
  try {
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    throw new OperatorError(`${existing} is not writable: give this user write access, or set TOLLGATE_DATA.`)
  }
  return existing === data ? data : `${data}; the first start creates it`
}

async function nearestExisting(folder: string): Promise<string> {
  try {
    await access(folder)
    return folder
  } catch {
    const parent = path.dirname(folder)
    return parent === folder ? folder : nearestExisting(parent)
  }
}

export async function checkPort(context: Context): Promise<string> {
  const { host, port } = (await context.config()).listen
  if (await isFree(host, port)) return `${host}:${port} is free`
  if (await isTollgate(host, port)) return `${host}:${port} is in use by Tollgate, which is running`
  throw new OperatorError(`${host}:${port} is used by another program: stop that program, or set PORT to a free port.`)
}

function isFree(host: string, port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.on('error', (error) => {
    const code = 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') resolve(false)
    else reject(new OperatorError(`Tollgate cannot listen on ${host}:${port} (${String(code)}): change HOST or PORT.`))
  })
  server.listen(port, host, () => server.close(() => resolve(true)))
  return promise
}

async function isTollgate(host: string, port: number): Promise<boolean> {
  const address = host.includes(':') ? `[${host}]` : host
  try {
    const reply = await fetch(`http://${address}:${port}/healthz`, { signal: AbortSignal.timeout(2000) })
    return reply.ok && reply.headers.has('request-id')
  } catch {
    return false
  }
}
