import { Client, type ClientConfig } from 'pg'
import { codeOf } from '../database/failure.ts'
import {
  addressOf,
  ownerName,
  superuserAddressOf,
  type ClusterCredentials,
  type ClusterFiles,
} from './cluster-files.ts'
import * as store from './lease-store.ts'
import { readRunning, stopServer } from './server.ts'

/** A connection that shows other processes that this one uses the server. */
export interface Lease {
  readonly client: Client
  readonly port: number
  /** Resolves when the connection has ended, for any reason. */
  readonly lost: Promise<void>
}

export const databaseName = 'tollgate'

/**
 * Connects to the server and shares its lock. In a new cluster, creates the owner and the database first. Errors are the
 * driver's. The caller must hold the cluster's file lock.
 */
export async function takeLease(credentials: ClusterCredentials): Promise<Lease> {
  const lease = await connect(credentials).catch((error: unknown) => {
    // A wrong password or a missing user: PostgreSQL does not say which.
    if (codeOf(error) !== notAuthenticated) throw error
    return undefined
  })
  if (lease !== undefined && (await store.hasDatabase(lease.client, databaseName))) return lease
  await lease?.client.end()
  await createMissing(credentials)
  return connect(credentials)
}

const notAuthenticated = '28P01'

const configFor = (connectionString: string): ClientConfig => ({
  connectionString,
  application_name: 'tollgate-lease',
  options: '-c statement_timeout=0',
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
})

/** Creates the owner and the database, unless they exist. */
async function createMissing(credentials: ClusterCredentials): Promise<void> {
  const superuser = new Client(configFor(superuserAddressOf(credentials, 'postgres')))
  superuser.on('error', () => undefined)
  await superuser.connect()
  try {
    await store.ensureOwner(superuser, ownerName, credentials.password)
    await store.ensureDatabase(superuser, databaseName, ownerName)
  } finally {
    await superuser.end()
  }
}

async function connect(credentials: ClusterCredentials): Promise<Lease> {
  const client = new Client(configFor(addressOf(credentials, 'postgres')))
  const lost = Promise.withResolvers<void>()
  client.on('error', () => undefined).on('end', () => lost.resolve())
  await client.connect()
  try {
    await store.shareLeaseLock(client)
    return { client, port: credentials.port, lost: lost.promise }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Ends the lease, and stops the server if it was the last one. The caller must hold the cluster's file lock. */
export async function giveUp(files: ClusterFiles, { client }: Lease): Promise<void> {
  // A lost connection has no lease to end.
  const isLast = await store.isLastLease(client).catch(() => false)
  const running = isLast ? await readRunning(files) : undefined
  if (running !== undefined) await stopServer(running)
  await client.end()
}
