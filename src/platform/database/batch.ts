import { Query, type Client, type Connection, type FieldDef } from 'pg'
import { valueTypes } from './types.ts'

/**
 * SQL that is prepared once per connection under its name. Values are sent as text, and bytes as they are; undefined and null are NULL. `Row` is
 * the type of its rows, with the conversions of `Queryable`.
 */
export interface PreparedStatement<Row = unknown> {
  readonly name: string
  readonly text: string
  readonly values?: readonly Value[]
  /** Never set; it carries the type. */
  readonly row?: Row
}

type Value = string | number | bigint | boolean | Buffer | null | undefined

/** The rows of each of several statements. */
export type RowsOf<Statements extends readonly PreparedStatement[]> = {
  readonly [At in keyof Statements]: Statements[At] extends PreparedStatement<infer Row> ? readonly Row[] : never
}

type Rows = Record<string, unknown>[]

/** A prepared statement of one connection. */
interface Known {
  /** Whether the statement still exists on the server is unknown. */
  unsure?: true
  columns?: readonly Column[]
}

interface Column {
  readonly name: string
  readonly parse: (text: string) => unknown
}

/** The prepared statements of each connection. */
const prepared = new WeakMap<Connection, Map<string, Known>>()

/**
 * Runs all statements as one transaction in one round trip. Resolves with the rows of each. Rejects with the driver's
 * error.
 */
export function runBatch<const Statements extends readonly PreparedStatement[]>(
  client: Client,
  statements: Statements,
): Promise<RowsOf<Statements>>
export function runBatch(client: Client, statements: readonly PreparedStatement[]): Promise<readonly Rows[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Rows[]>()
  client.query(
    new Batch(statements, (error, results) => {
      if (results === undefined) reject(error)
      else resolve(results)
    }),
  )
  return promise
}

/**
 * Several prepared statements followed by one Sync, which makes them one transaction: "Sync causes the backend to close the
 * current transaction if it is not inside a BEGIN/COMMIT block (commit if no error, or roll back if error)". This takes one
 * round trip, and no messages for BEGIN and COMMIT.
 *
 * It drops its statements once they are sent and its rows once they are delivered. Otherwise V8 promotes them to the old
 * generation with the batch: at 200 calls a second they were most of what was promoted, and caused a major garbage
 * collection every two seconds.
 */
class Batch extends Query {
  /** The client calls it once, with an error or with the rows of each statement. */
  callback: (error: unknown, results?: readonly Rows[]) => void
  #statements: readonly PreparedStatement[]
  #results: Rows[]
  readonly #fresh: Known[] = []
  #known: readonly Known[] = []
  #at = 0

  constructor(statements: readonly PreparedStatement[], done: (error: unknown, results?: readonly Rows[]) => void) {
    super({ text: 'batch' })
    this.callback = done
    this.#statements = statements
    this.#results = statements.map(() => [])
  }

  override submit = (connection: Connection): void => {
    const known = prepared.get(connection) ?? new Map<string, Known>()
    prepared.set(connection, known)
    connection.stream.cork()
    this.#known = this.#statements.map((statement) => this.#send(connection, known, statement))
    connection.sync()
    connection.stream.uncork()
    this.#statements = []
  }

  #send(connection: Connection, known: Map<string, Known>, { name, text, values = [] }: PreparedStatement): Known {
    let here = known.get(name)
    if (here === undefined || here.unsure) {
      if (here?.unsure) connection.close({ type: 'S', name }, true)
      here = {}
      known.set(name, here)
      this.#fresh.push(here)
      connection.parse({ name, text, types: [] }, true)
    }
    connection.bind({ statement: name, values: values.map(textOf) }, true)
    if (here.columns === undefined) connection.describe({ type: 'P', name: '' }, true)
    connection.execute(null, true)
    return here
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    const known = this.#known[this.#at]
    if (known === undefined) return
    known.columns = fields.map(({ name, dataTypeID }) => {
      const parse: unknown = valueTypes.getTypeParser(dataTypeID)
      return { name, parse: isParser(parse) ? parse : (text: string) => text }
    })
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    for (const [index, { name, parse }] of (this.#known[this.#at]?.columns ?? []).entries()) {
      const text = fields[index] ?? null
      row[name] = text === null ? null : parse(text)
    }
    this.#results[this.#at]?.push(row)
  }

  handleCommandComplete(): void {
    this.#at += 1
  }

  handleEmptyQuery(): void {
    this.#at += 1
  }

  handleError(error: unknown): void {
    // Which of the statements that this batch prepared now exist is unknown.
    for (const known of this.#fresh) known.unsure = true
    // The failed statement may depend on a recreated object. Unless it is prepared again, it would always fail.
    const failed = this.#known[this.#at]
    if (failed !== undefined) failed.unsure = true
    this.callback(error)
  }

  handleReadyForQuery(): void {
    const { callback } = this
    const results = this.#results
    this.#results = []
    this.callback = ignore
    callback(null, results)
  }
}

const ignore = (): void => undefined

/** The driver's types wrongly declare that parsers accept numbers. */
function isParser(value: unknown): value is Column['parse'] {
  return typeof value === 'function'
}

function textOf(value: Value): string | Buffer | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : String(value)
}
