import { setTimeout as wait } from 'node:timers/promises'
import { Pool, type Client } from 'pg'
import type { Logger } from 'pino'
import { Problem } from '../problems.ts'
import {
  connectionConfig,
  openDedicatedConnection,
  run,
  type Queryable,
  type DedicatedConnection,
  type Statement,
} from './connection.ts'
import { isAway, logLoss, unavailable } from './failure.ts'

export type { Queryable, DedicatedConnection, Statement } from './connection.ts'

export interface Database extends Queryable {
  /** ms that a caller waits for a database that does not respond. */
  readonly callerPatience: number
  /** Runs `work` in a transaction; a throw rolls back. If the connection is lost during COMMIT, the outcome is unknown. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Opens a connection outside the pool. */
  connect(): Promise<DedicatedConnection>
  /** Waits for running statements, then closes the pool and all other connections, for at most 10 seconds. Idempotent. */
  close(): Promise<void>
}

export interface DatabaseOptions extends DatabasePatience {
  readonly log: Logger
  /** The size of the pool. Default 10. */
  readonly connections?: number
}

/** In ms. */
export interface DatabasePatience {
  /** Default 5000; 0 means none. */
  readonly statementTimeout?: number
  /** Default 4000. */
  readonly callerPatience?: number
}

/**
 * Opens a pool of connections to a postgres:// URL. It connects on first use and reconnects after a loss. Failures of the
 * connection or the server, and timeouts, throw Problem `unavailable`; none of them ends the process.
 */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const config = connectionConfig(url, options.statementTimeout ?? 5000)
  const pool = openPool(new Pool({ ...config, max: options.connections ?? 10 }), options.log)
  const dedicated = new Set<DedicatedConnection>()
  let closing: Promise<unknown> | undefined

  return Object.freeze({
    callerPatience: options.callerPatience ?? 4000,
    rows: <Row>(query: string | Statement, values?: readonly unknown[]) =>
      withClient(pool, (client) => run<Row>(client, query, values)),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) => withClient(pool, (client) => transact(client, work)),
    async connect() {
      const connection = await openDedicatedConnection(config, options.log)
      dedicated.add(connection)
      connection.onLost(() => dedicated.delete(connection))
      return connection
    },
    async close() {
      closing ??= Promise.all([pool.end(), ...[...dedicated].map((connection) => connection.close())])
      // A database that hangs does not close its side.
      await Promise.race([closing, wait(closePatience, undefined, { ref: false })])
    },
  })
}

const closePatience = 10_000

function openPool(pool: Pool, log: Logger): Pool {
  // Without a listener for 'error', a lost connection would end the process.
  pool.on('connect', (client) => client.on('error', (error) => logLoss(log, error)))
  // The pool repeats the errors of idle clients.
  pool.on('error', () => undefined)
  return pool
}

async function withClient<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw unavailable(error)
  })
  let away = false
  try {
    return await work(client)
  } catch (error) {
    away = isAway(error)
    throw away ? unavailable(error) : error
  } finally {
    // A connection that is still in a transaction cannot be reused either.
    client.release(away || client.getTransactionStatus() !== 'I')
  }
}

async function transact<T>(client: Client, work: (tx: Queryable) => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work({ rows: (query, values) => run(client, query, values) })
    await client.query('commit')
    return result
  } catch (error) {
    if (!isAway(error)) await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** Rejects with Problem `unavailable` if `reading` takes longer than a caller waits for the database. */
export async function withinPatience<T>({ callerPatience }: Database, reading: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const error = new Problem('unavailable', 'The database does not respond. Try again.', { retryAfter: 1 })
  const timer = setTimeout(() => late.reject(error), callerPatience)
  return Promise.race([reading, late.promise]).finally(() => clearTimeout(timer))
}
