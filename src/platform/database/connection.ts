import { Client, type ClientConfig, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { runBatch, type PreparedStatement } from './batch.ts'
import { codeOf, isAway, logLoss, unavailable } from './failure.ts'
import { valueTypes } from './types.ts'

/** SQL with its `$1` values. With a name, it is prepared once per connection; a name always has the same text. */
export interface Statement {
  readonly name?: string
  readonly text: string
  readonly values?: readonly unknown[]
}

export interface Queryable {
  /**
   * Runs one statement. int8 and numeric become bigint (a fraction is an error: money is in whole units), timestamptz
   * becomes Date, date becomes 'YYYY-MM-DD'. Throws Problem `unavailable` if the database is unavailable.
   */
  rows<Row>(query: string | Statement, values?: readonly unknown[]): Promise<Row[]>
}

/** A connection outside the pool, for one statement at a time. */
export interface DedicatedConnection extends Queryable {
  /** Like `rows`, for a prepared statement; cheaper on both sides. */
  call<Row>(statement: PreparedStatement<Row>): Promise<readonly Row[]>
  /** Calls `react` once, when the connection has ended for any reason, including `close()`. */
  onLost(react: () => void): void
  /** Ends the connection and any running statement. Idempotent. */
  close(): Promise<void>
}

/**
 * The settings that our SQL and the value parsers rely on, and no time limits but our own. They override the settings of
 * the server, the database and the role.
 */
const ourSettings = [
  'DateStyle=ISO',
  'TimeZone=UTC',
  // By default pg_temp comes first, and a temporary table could shadow one of ours.
  'search_path=public,pg_temp',
  String.raw`default_transaction_isolation=read\ committed`,
  'lock_timeout=0',
  'idle_session_timeout=0',
]

/** The options of every connection. `statementTimeout` is in ms; 0 means none. */
export function connectionConfig(url: string, statementTimeout: number): ClientConfig {
  const [connectionString, theirs] = readAddress(url)
  const settings = [...ourSettings, `statement_timeout=${statementTimeout}`].map((setting) => `-c ${setting}`)
  return {
    connectionString,
    types: valueTypes,
    application_name: 'tollgate',
    options: [...theirs, ...settings].join(' '),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    // For a server that does not respond at all, and so cannot enforce statement_timeout.
    ...(statementTimeout > 0 && { query_timeout: statementTimeout + 2000 }),
  }
}

/**
 * Separates the URL from its `options`, which the driver would use instead of ours. The driver treats several values of
 * `sslmode` as verify-full, with a long warning; replacing them avoids the warning.
 */
function readAddress(url: string): [string, string[]] {
  if (!/[?&](options|sslmode)=/.test(url)) return [url, []]
  const address = new URL(url)
  const { searchParams } = address
  const theirs = searchParams.getAll('options')
  searchParams.delete('options')
  if (/^(prefer|require|verify-ca)$/.test(searchParams.get('sslmode') ?? '') && !searchParams.has('uselibpqcompat')) {
    searchParams.set('sslmode', 'verify-full')
  }
  return [address.href, theirs]
}

/** Runs a statement on a client. Errors are the driver's. */
export async function run<Row>(
  client: Client,
  query: string | Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const statement = typeof query === 'string' ? { text: query, values } : query
  const result = await client.query<Row & QueryResultRow>({ ...statement, values: [...(statement.values ?? values)] })
  return result.rows
}

/** Milliseconds until a connection is closed by force. */
const endPatience = 2000

/** Ends a connection. A server that hangs, or cannot be reached, does not close its side: then ours alone is closed. */
export async function endConnection(client: Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), endPatience)
  await client.end().finally(() => clearTimeout(timer))
}

/** Throws Problem `unavailable`. */
export async function openDedicatedConnection(config: ClientConfig, log: Logger): Promise<DedicatedConnection> {
  const client = new Client(config)
  const ended = Promise.withResolvers<undefined>()
  client.on('error', (error) => logLoss(log, error))
  client.on('end', () => ended.resolve(undefined))
  await client.connect().catch((error: unknown) => {
    throw unavailable(error)
  })

  async function settled<Result>(running: Promise<Result>): Promise<Result> {
    try {
      return await running
    } catch (error) {
      if (!isAway(error)) throw error
      // Only after a statement timeout is the connection certain to be usable.
      if (codeOf(error) !== '57014') await endConnection(client)
      throw unavailable(error)
    }
  }

  return Object.freeze({
    rows: <Row>(query: string | Statement, values?: readonly unknown[]) => settled(run<Row>(client, query, values)),
    call: <Row>(statement: PreparedStatement<Row>) => settled(runBatch(client, [statement])).then(([rows]) => rows),
    onLost: (react: () => void) => void ended.promise.then(react),
    close: () => endConnection(client),
  })
}
