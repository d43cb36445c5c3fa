import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { connectionConfig, run } from './connection.ts'
import { refusal } from './refusal.ts'
import { OperatorError } from '../problems.ts'

interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}
interface MigrationFile extends Migration {
  readonly sql: string
}

const shipped = join(import.meta.dirname, '../../../migrations')
const oldestServer = 15
// Any fixed number: whoever migrates this database holds the advisory lock with it.
const lock = 7_265_538_911

/**
 * Brings the schema up to the migrations of this version, each in a transaction of its own, under a lock, so that
 * several instances may start at once. Returns the names of those that it applied. Throws OperatorError, one line,
 * when the database refuses, is older than PostgreSQL 15, or has another history than the files.
 */
export async function migrate(url: string, directory: string = shipped): Promise<string[]> {
  const files = await readMigrations(directory)
  const client = await connect(url)
  try {
    await refuseOldServer(client)
    await refuseOtherEncodings(client)
    await run(client, 'select pg_advisory_lock($1)', [lock])
    const pending = pendingOf(files, await appliedMigrations(client))
    for (const file of pending) await apply(client, file)
    return pending.map((file) => file.name)
  } catch (error) {
    throw error instanceof OperatorError ? error : refusal(error, client)
  } finally {
    await client.end()
  }
}

async function connect(url: string): Promise<Client> {
  const client = clientFor(url)
  client.on('error', () => undefined)
  await client.connect().catch(async (error: unknown) => {
    // A server that still waits for a password would keep this process for a minute.
    await client.end().catch(() => undefined)
    throw refusal(error, client)
  })
  return client
}

function clientFor(url: string): Client {
  try {
    return new Client(connectionConfig(url, 0))
  } catch (error) {
    // What a file of the address is for, the driver has looked for at once.
    if (error instanceof Error && 'path' in error && typeof error.path === 'string') {
      throw new OperatorError(`The address of the database names a file that cannot be read: ${error.path}.`)
    }
    // No cause: the driver's error may hold the address with its password.
    throw new OperatorError('The address of the database is not valid: write postgres://user:password@host:port/name.')
  }
}

async function refuseOldServer(client: Client): Promise<void> {
  const [server] = await run<{ number: string; name: string }>(
    client,
    `select current_setting('server_version_num') as number, current_setting('server_version') as name`,
  )
  if (server !== undefined && Number(server.number) >= oldestServer * 10_000) return
  throw new OperatorError(
    `The database is PostgreSQL ${server?.name}: Tollgate needs ${oldestServer} or newer. Upgrade it, or use another.`,
  )
}

/** In others a text that a model writes may not fit, or, in SQL_ASCII, is kept without being looked at. */
async function refuseOtherEncodings(client: Client): Promise<void> {
  const [own] = await run<{ encoding: string }>(client, `select current_setting('server_encoding') as encoding`)
  if (own?.encoding === 'UTF8') return
  throw new OperatorError(
    `The database's encoding is ${own?.encoding}: make it anew with "create database … encoding 'UTF8' template template0".`,
  )
}

async function readMigrations(directory: string): Promise<MigrationFile[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
  return Promise.all(
    names.map(async (file) => {
      const sql = await readFile(join(directory, file), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number: Number(file.slice(0, 4)), name: file.slice(0, -'.sql'.length), checksum, sql }
    }),
  )
}

async function appliedMigrations(client: Client): Promise<Migration[]> {
  // Looked for first: a role that may not create tables can still start on a schema that is up to date.
  const [table] = await run<{ there: boolean }>(client, `select to_regclass('migration') is not null as there`)
  if (table?.there !== true) {
    await run(
      client,
      `create table migration (
        number integer primary key, name text not null, checksum text not null,
        at timestamptz not null default now()
      )`,
    )
  }
  return run<Migration>(client, 'select number, name, checksum from migration order by number')
}

function pendingOf(files: readonly MigrationFile[], applied: readonly Migration[]): MigrationFile[] {
  for (const [index, was] of applied.entries()) {
    const is = files[index]
    if (is === undefined) {
      throw new OperatorError(
        `The database has migration ${was.name}, which this version of Tollgate does not have: run the newer version.`,
      )
    }
    if (is.number !== was.number || is.checksum !== was.checksum) {
      throw new OperatorError(
        `Migration ${was.name} is not what was applied to the database: restore the file, and put changes in a new one.`,
      )
    }
  }
  return files.slice(applied.length)
}

async function apply(client: Client, file: MigrationFile): Promise<void> {
  try {
    await run(client, 'begin')
    await run(client, file.sql)
    await run(client, 'insert into migration (number, name, checksum) values ($1, $2, $3)', [
      file.number,
      file.name,
      file.checksum,
    ])
    await run(client, 'commit')
  } catch (error) {
    // The connection ends with this error, and with it the transaction.
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`Migration ${file.name} failed and was undone: ${reason}.`, { cause: error })
  }
}
