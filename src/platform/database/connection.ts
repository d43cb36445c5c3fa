import { Client, type ClientConfig, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { runBatch, type PreparedStatement } from './batch.ts'
import { codeOf, isAway, logLoss, unavailable } from './failure.ts'
import { valueTypes } from './types.ts'

/** SQL with its `$1` values. With a name it is prepared once per connection: one name, one text. */
export interface Statement {
  readonly name?: string
  readonly text: string
  readonly values?: readonly unknown[]
}

export interface Queryable {
  /**
   * Runs one statement. int8 and numeric arrive as bigint (a numeric with a fraction is an error: money is whole),
   * timestamptz as Date, date as 'YYYY-MM-DD'. Throws Problem `unavailable` when the database is away.
   */
  rows<Row>(query: string | Statement, values?: readonly unknown[]): Promise<Row[]>
}

/** A connection of one's own, outside of the pool: one statement at a time. */
export interface Session extends Queryable {
  /** Runs a prepared statement, as `rows` does and with less work for both sides. */
  call<Row>(statement: PreparedStatement<Row>): Promise<readonly Row[]>
  /** Calls once when the connection has ended, also by `close()`; at once if it already has. */
  onLost(react: () => void): void
  /** Ends the connection, a statement under way included. May be called again. */
  close(): Promise<void>
}

/**
 * What the parsers of values rely on, the schema and the isolation that our SQL is written for, and no time limits but our
 * own, whatever is set for the server, the database or the role.
 */
const ourSettings = [
  'DateStyle=ISO',
  'TimeZone=UTC',
  // Last, where it is otherwise first: no temporary table stands in for one of ours.
  'search_path=public,pg_temp',
  String.raw`default_transaction_isolation=read\ committed`,
  'lock_timeout=0',
  'idle_session_timeout=0',
]

/** How every connection is opened. A statement timeout (ms) of 0 means none. */
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
    // For a server that does not answer at all, and so cannot end the statement by itself.
    ...(statementTimeout > 0 && { query_timeout: statementTimeout + 2000 }),
  }
}

/**
 * The address for the driver, and the options that were in it: it would take them in place of ours; of a setting that is
 * in both, the later one counts. What it treats as verify-full, with a warning of six lines, it is given as verify-full.
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

/** Runs a statement on a client; errors are the driver's own. */
export async function run<Row>(
  client: Client,
  query: string | Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const statement = typeof query === 'string' ? { text: query, values } : query
  const result = await client.query<Row & QueryResultRow>({ ...statement, values: [...(statement.values ?? values)] })
  return result.rows
}

/** Connects a client of its own. Throws Problem `unavailable`. */
export async function openSession(config: ClientConfig, log: Logger): Promise<Session> {
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
      // Only a statement timeout leaves a connection that is sure to be in order.
      if (codeOf(error) !== '57014') await client.end()
      throw unavailable(error)
    }
  }

  return Object.freeze({
    rows: <Row>(query: string | Statement, values?: readonly unknown[]) => settled(run<Row>(client, query, values)),
    call: <Row>(statement: PreparedStatement<Row>) => settled(runBatch(client, [statement])).then(([rows]) => rows),
    onLost: (react: () => void) => void ended.promise.then(react),
    close: () => client.end(),
  })
}
