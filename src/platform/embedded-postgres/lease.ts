import { Client, type ClientConfig } from 'pg'
import { codeOf } from '../database/failure.ts'
import { scramVerifier } from '../database/scram.ts'
import { addressOf, ownerName, superuserAddressOf, type Access, type Place } from './place.ts'
import { readRunning, stopServer } from './server.ts'

/** A connection that shows that this process uses the server. */
export interface Lease {
  readonly client: Client
  readonly port: number
  /** Resolves when the connection has ended, for any reason. */
  readonly lost: Promise<void>
}

export const databaseName = 'tollgate'
// Any fixed number: the advisory lock that all users of the server share.
const lock = 5_310_442_607

/**
 * Connects to the server and shares its lock. In a new cluster, creates the owner and the database first. Errors are the
 * driver's. Only under the place's lock.
 */
export async function takeLease(access: Access): Promise<Lease> {
  const lease = await connect(access).catch((error: unknown) => {
    // A wrong password, or no such user yet: PostgreSQL does not say which.
    if (codeOf(error) !== notAuthenticated) throw error
    return undefined
  })
  if (lease !== undefined && (await hasDatabase(lease.client))) return lease
  await lease?.client.end()
  await furnish(access)
  return connect(access)
}

const notAuthenticated = '28P01'

const settings = (connectionString: string): ClientConfig => ({
  connectionString,
  application_name: 'tollgate-lease',
  options: '-c statement_timeout=0',
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
})

async function hasDatabase(client: Client): Promise<boolean> {
  const { rows } = await client.query('select from pg_database where datname = $1', [databaseName])
  return rows.length > 0
}

/** Creates the owner and the database, as far as they are missing. */
async function furnish(access: Access): Promise<void> {
  const superuser = new Client(settings(superuserAddressOf(access, 'postgres')))
  superuser.on('error', () => undefined)
  await superuser.connect()
  try {
    const owner = await superuser.query('select from pg_roles where rolname = $1', [ownerName])
    if (owner.rows.length === 0) {
      await superuser.query(`create role ${ownerName} login createrole password '${scramVerifier(access.password)}'`)
    }
    if (!(await hasDatabase(superuser))) await superuser.query(`create database ${databaseName} owner ${ownerName}`)
  } finally {
    await superuser.end()
  }
}

async function connect(access: Access): Promise<Lease> {
  const client = new Client(settings(addressOf(access, 'postgres')))
  const lost = Promise.withResolvers<void>()
  client.on('error', () => undefined).on('end', () => lost.resolve())
  await client.connect()
  try {
    await client.query('select pg_advisory_lock_shared($1)', [lock])
    return { client, port: access.port, lost: lost.promise }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Gives up the lease, and stops the server if it was the last. Only under the place's lock. */
export async function giveUp(place: Place, { client }: Lease): Promise<void> {
  // The exclusive lock is not granted while others share it. A lost connection has nothing to give up.
  const alone = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [lock]).then(
    ({ rows }) => rows[0]?.alone === true,
    () => false,
  )
  const running = alone ? await readRunning(place) : undefined
  if (running !== undefined) await stopServer(running)
  await client.end()
}
