import { Client } from 'pg'
import { addressOf, type Access, type Place } from './place.ts'
import { readRunning, stopServer } from './server.ts'

/** A connection of its own that says that this process uses the server. */
export interface Lease {
  readonly client: Client
  readonly port: number
  /** Resolves when the connection has ended, whoever ended it. */
  readonly lost: Promise<void>
}

export const databaseName = 'tollgate'
// Any fixed number: the advisory lock that everyone who uses the server shares.
const lock = 5_310_442_607

/** Connects, joins those who use the server, and makes the database if it is not there yet. Errors are the driver's. */
export async function takeLease(access: Access): Promise<Lease> {
  const client = new Client({
    connectionString: addressOf(access, 'postgres'),
    application_name: 'tollgate-lease',
    options: '-c statement_timeout=0',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  const lost = Promise.withResolvers<void>()
  client.on('error', () => undefined).on('end', () => lost.resolve())
  await client.connect()
  try {
    await client.query('select pg_advisory_lock_shared($1)', [lock])
    const there = await client.query('select from pg_database where datname = $1', [databaseName])
    if (there.rows.length === 0) await client.query(`create database ${databaseName}`)
    return { client, port: access.port, lost: lost.promise }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Gives the lease up, and stops the server if nobody else has one. Only under the place's lock. */
export async function giveUp(place: Place, { client }: Lease): Promise<void> {
  // The lock held alone cannot be had while others share it. A connection that is gone has nothing to give up.
  const alone = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [lock]).then(
    ({ rows }) => rows[0]?.alone === true,
    () => false,
  )
  const running = alone ? await readRunning(place) : undefined
  if (running !== undefined) await stopServer(running)
  await client.end()
}
