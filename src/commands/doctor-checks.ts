import { access, constants, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { OperatorError } from '../platform/problems.ts'
import type { Context } from './context.ts'
import { faultOfModel, surveyModels } from './model-survey.ts'

/** One thing that can be wrong. */
export interface Check {
  readonly name: string
  /** Checks that must have passed before this one makes sense. */
  readonly needs: readonly string[]
  /** What was found. Throws OperatorError or Problem: what is wrong and what to do. */
  find(context: Context): Promise<string>
}

/** The first of the pinned line that has `crypto.randomUUIDv7`. */
const oldestRuntime = [26, 1] as const
const mostSkew = 2000

/** In the order in which they are carried out. */
export const checks: readonly Check[] = [
  { name: 'runtime', needs: [], find: async () => findRuntime(process.versions.node) },
  { name: 'configuration', needs: [], find: findConfiguration },
  { name: 'data folder', needs: ['configuration'], find: findDataFolder },
  { name: 'database', needs: ['configuration'], find: findDatabase },
  { name: 'durability', needs: ['database'], find: findDurability },
  { name: 'clock', needs: ['database'], find: findClock },
  { name: 'models', needs: ['configuration'], find: findModels },
  { name: 'prices', needs: ['database'], find: findPrices },
  { name: 'sign-in', needs: ['configuration'], find: findSignIn },
  { name: 'port', needs: ['configuration'], find: findPort },
]

export function findRuntime(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldestRuntime
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return `Node ${version}`
  throw new OperatorError(
    `Node ${version} is too old: start with ./tollgate, or use Node ${oldestMajor}.${oldestMinor} or newer.`,
  )
}

async function findConfiguration(context: Context): Promise<string> {
  const { file } = await context.config()
  return file ?? 'no file: every setting has its default'
}

async function findDataFolder(context: Context): Promise<string> {
  const { data } = await context.config()
  const existing = await nearestExisting(data)
  const found = await stat(existing)
  if (!found.isDirectory()) throw new OperatorError(`${existing} is not a folder: move it away, or set TOLLGATE_DATA.`)
  try {
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    throw new OperatorError(`${existing} cannot be written: give this user the right to, or set TOLLGATE_DATA.`)
  }
  return existing === data ? data : `${data}, which will be made`
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

async function findDatabase(context: Context): Promise<string> {
  const { migrate } = await import('../platform/database/migrations.ts')
  const applied = await migrate(await context.databaseUrl())
  const database = await context.database()
  const [row] = await database.rows<{ version: string; readOnly: boolean }>(
    `select current_setting('server_version') as version, current_setting('transaction_read_only') = 'on' as "readOnly"`,
  )
  if (row?.readOnly) {
    throw new OperatorError(
      'The database takes no changes: name the primary where this is a standby, or turn default_transaction_read_only off.',
    )
  }
  const schema = applied.length === 0 ? 'every migration is applied' : `applied now: ${applied.join(', ')}`
  return `PostgreSQL ${row?.version}; ${schema}`
}

/** Nothing is changed here: what else an operator may have chosen, `local` or `remote_apply`, is theirs to decide. */
async function findDurability(context: Context): Promise<string> {
  const database = await context.database()
  const off = await database.rows<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'off' order by name`,
  )
  if (off.length === 0) return 'what is confirmed outlives a power cut'
  const names = off.map(({ name }) => name).join(' and ')
  throw new OperatorError(
    `A power cut could take charges that were confirmed: turn ${names} on, for the server, this database and its role.`,
  )
}

async function findClock(context: Context): Promise<string> {
  const database = await context.database()
  const before = Date.now()
  const [row] = await database.rows<{ now: Date }>('select clock_timestamp() as now')
  const skew = (row?.now.getTime() ?? Number.NaN) - (before + Date.now()) / 2
  if (Math.abs(skew) <= mostSkew) return `within ${mostSkew / 1000} s of the database's`
  throw new OperatorError(
    `This clock and the database's are ${Math.round(Math.abs(skew) / 1000)} s apart: set both by network time (NTP).`,
  )
}

async function findModels(context: Context): Promise<string> {
  const { models } = await context.config()
  const found = await Promise.all(models.map((model) => faultOfModel(model, models)))
  const faults = new Set(found.filter((fault) => fault !== null))
  if (faults.size > 0) throw new OperatorError([...faults].join('\n'))
  return `${models.map(({ id }) => id).join(', ')}: every file and every package can be used`
}

async function findPrices(context: Context): Promise<string> {
  const lines = (await surveyModels(context)).filter(({ price }) => price === null)
  if (lines.length === 0) return 'every model has one'
  const [id = ''] = lines.map((line) => line.id)
  throw new OperatorError(
    `Without a price and so not callable: ${lines.map((line) => line.id).join(', ')}. ` +
      `Put one into the configuration, or: ./tollgate price set ${id} --input 0.10 --output 0.40`,
  )
}

async function findSignIn(context: Context): Promise<string> {
  const { surveySignIn } = await import('../signin/configured.ts')
  return surveySignIn({ config: await context.config(), log: await context.log() })
}

async function findPort(context: Context): Promise<string> {
  const { host, port } = (await context.config()).listen
  if (await isFree(host, port)) return `${host}:${port} is free`
  if (await isTollgate(host, port)) return `${host}:${port} is in use by Tollgate itself, which runs`
  throw new OperatorError(`${host}:${port} is taken by another program: stop that one, or set PORT to a free port.`)
}

function isFree(host: string, port: number): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.on('error', (error) => {
    const code = 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE') resolve(false)
    else reject(new OperatorError(`${host}:${port} cannot be listened on (${String(code)}): change HOST or PORT.`))
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
