import type { Duplex } from 'node:stream'
import { Client, type ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { runBatch, type PreparedStatement, type RowsOf } from './batch.ts'
import { connectionConfig } from './connection.ts'
import { codeOf, isAway, logLoss, unavailable } from './failure.ts'

export type { PreparedStatement, RowsOf } from './batch.ts'

/** Few connections that carry many transactions at a time, each of one round trip. */
export interface Pipeline {
  /**
   * Carries out all statements as one transaction in one round trip, or none of them. Returns the rows of each. Throws
   * the driver's error, or Problem `unavailable` when the database is away: whether it was committed is open then.
   */
  transact<const Statements extends readonly PreparedStatement[]>(statements: Statements): Promise<RowsOf<Statements>>
  /** Waits for the transactions under way. May be called again. */
  close(): Promise<void>
}

export interface PipelineOptions {
  readonly log: Logger
  /** 4 unless told: more of them only make the server's processes take turns more often. */
  readonly connections?: number
  /** Milliseconds after which the server gives a statement up; 5000 unless told, 0 for never. */
  readonly statementTimeout?: number
}

type Results = readonly (readonly unknown[])[]

/** One of the connections. */
interface Line {
  client: Promise<Client> | undefined
  inFlight: number
}

/**
 * The statement was prepared otherwise, or not at all, because what was sent before it failed: nothing was carried out,
 * and it is sent once more.
 */
const notPrepared: ReadonlySet<string> = new Set(['26000', '42P05'])

/** Opens connections when they are first needed, and again after every loss. */
export function openPipeline(url: string, options: PipelineOptions): Pipeline {
  const { log, connections = 4, statementTimeout = 5000 } = options
  const config = pipelined(connectionConfig(url, statementTimeout))
  const lines: readonly Line[] = Array.from({ length: connections }, () => ({ client: undefined, inFlight: 0 }))
  let ending: Promise<unknown> | undefined

  function connect(line: Line): Promise<Client> {
    const client = new Client(config)
    const ready = client.connect().then(
      () => client,
      (error: unknown) => {
        forget()
        throw unavailable(error)
      },
    )
    const forget = () => {
      if (line.client === ready) line.client = undefined
    }
    client.on('error', (error) => {
      forget()
      logLoss(log, error)
    })
    client.on('end', forget)
    line.client = ready
    return ready
  }

  async function send(line: Line, statements: readonly PreparedStatement[]): Promise<Results> {
    const connected = line.client ?? connect(line)
    const client = await connected
    try {
      return await submit(client, statements)
    } catch (error) {
      // Only a statement timeout leaves a connection that is sure to be in order.
      if (isAway(error) && codeOf(error) !== '57014' && line.client === connected) {
        line.client = undefined
        client.end().catch((lost: unknown) => log.warn({ err: lost }, 'a lost connection could not be closed'))
      }
      throw error
    }
  }

  async function transact<const Statements extends readonly PreparedStatement[]>(
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  async function transact(statements: readonly PreparedStatement[]): Promise<Results> {
    const line = lines.reduce((least, each) => (each.inFlight < least.inFlight ? each : least))
    line.inFlight += 1
    try {
      return await send(line, statements).catch((error: unknown) => {
        if (notPrepared.has(codeOf(error) ?? '')) return send(line, statements)
        throw error
      })
    } catch (error) {
      throw isAway(error) ? unavailable(error) : error
    } finally {
      line.inFlight -= 1
    }
  }

  return Object.freeze({
    transact,
    async close() {
      ending ??= Promise.all(lines.map(async ({ client }) => (await client)?.end()))
      await ending
    },
  })
}

function submit(client: Client, statements: readonly PreparedStatement[]): Promise<Results> {
  holdBack(client.connection.stream)
  return runBatch(client, statements)
}

const held = new WeakSet<Duplex>()

/**
 * What is written in one turn of the event loop leaves in one piece: writing to a socket costs more than all else that a
 * short transaction costs here.
 */
function holdBack(stream: Duplex): void {
  if (held.has(stream)) return
  held.add(stream)
  stream.cork()
  setImmediate(() => {
    held.delete(stream)
    stream.uncork()
  })
}

function pipelined(config: ClientConfig): ClientConfig {
  // These statements are short: to compile one, or to start processes for it, takes longer than any of them.
  return {
    ...config,
    pipeline: true,
    options: `${config.options ?? ''} -c jit=off -c max_parallel_workers_per_gather=0`,
  }
}
