import { Pool, type Client } from 'pg'
import type { Logger } from 'pino'
import { connectionConfig, openSession, run, type Queryable, type Session, type Statement } from './connection.ts'
import { isAway, logLoss, unavailable } from './failure.ts'

export type { Queryable, Session, Statement } from './connection.ts'

export interface Database extends Queryable {
  /** Commits what `work` did, or nothing: a throw rolls back. A connection lost during COMMIT leaves it open which. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /** Opens a connection outside of the pool. */
  session(): Promise<Session>
  /** Waits for the statements under way, then closes the pool and every session. May be called again. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly log: Logger
  /** Most connections in the pool; 10 unless told. */
  readonly connections?: number
  /** Milliseconds after which the server gives a statement up; 5000 unless told, 0 for never. */
  readonly statementTimeout?: number
}

/**
 * Opens a pool on a postgres:// address. It connects when first asked, and again after every loss: no failure of the
 * database ends the process. One of the connection, of the server or of time is Problem `unavailable`.
 */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const config = connectionConfig(url, options.statementTimeout ?? 5000)
  const pool = openPool(new Pool({ ...config, max: options.connections ?? 10 }), options.log)
  const sessions = new Set<Session>()
  let closing: Promise<unknown> | undefined

  return Object.freeze({
    rows: <Row>(query: string | Statement, values?: readonly unknown[]) =>
      withClient(pool, (client) => run<Row>(client, query, values)),
    transaction: <T>(work: (tx: Queryable) => Promise<T>) => withClient(pool, (client) => transact(client, work)),
    async session() {
      const session = await openSession(config, options.log)
      sessions.add(session)
      session.onLost(() => sessions.delete(session))
      return session
    },
    async close() {
      closing ??= Promise.all([pool.end(), ...[...sessions].map((session) => session.close())])
      await closing
    },
  })
}

function openPool(pool: Pool, log: Logger): Pool {
  // A client without a listener for 'error' would end the process, lent out or idle.
  pool.on('connect', (client) => client.on('error', (error) => logLoss(log, error)))
  // The pool repeats what an idle client said.
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
    // A connection that hangs in a transaction is not for the next one either.
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
