import type { Duplex } from 'node:stream'
import { Client, type ClientConfig } from 'pg'
import type { Logger } from 'pino'
import { runBatch, type PreparedStatement, type RowsOf } from './batch.ts'
import { connectionConfig } from './connection.ts'
import { codeOf, isAway, isConflict, logLoss, unavailable } from './failure.ts'

export type { PreparedStatement, RowsOf } from './batch.ts'

/** A few connections that carry many concurrent transactions, each in one round trip. */
export interface Pipeline {
  /**
   * Runs all statements as one transaction in one round trip, again if it met with another one. Returns the rows of each. Throws the driver's error, or
   * Problem `unavailable`; after that, whether the transaction committed is unknown.
   */
  transact<const Statements extends readonly PreparedStatement[]>(statements: Statements): Promise<RowsOf<Statements>>
  /** Waits for running transactions, then closes the connections. Idempotent. */
  close(): Promise<void>
}

export interface PipelineOptions {
  readonly log: Logger
  /** Default 4. More only cause more context switches on the server. */
  readonly connections?: number
  /** In ms. Default 5000; 0 means none. */
  readonly statementTimeout?: number
}

type Results = readonly (readonly unknown[])[]

interface Line {
  client: Promise<Client> | undefined
  inFlight: number
}

/**
 * The prepared statement is missing, or exists although it was not expected, because an earlier batch failed. Nothing was
 * executed, so the batch is sent again.
 */
const notPrepared: ReadonlySet<string> = new Set(['26000', '42P05'])

/** Whether nothing of the transaction is left, only because of what others did at the same time. */
const wasUndone = (error: unknown): boolean => notPrepared.has(codeOf(error) ?? '') || isConflict(error)

const mostTries = 5

/** Connects on first use and reconnects after a loss. */
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
      // Only after a statement timeout is the connection certain to be usable.
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
      for (let tries = 1; ; tries++) {
        try {
          return await send(line, statements)
        } catch (error) {
          if (tries === mostTries || !wasUndone(error)) throw error
        }
      }
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
 * Combines all writes of one turn of the event loop. Writing to a socket is the largest cost of a short transaction.
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
  // For such short statements, JIT compilation and parallel workers take longer than they save.
  return {
    ...config,
    pipeline: true,
    options: `${config.options ?? ''} -c jit=off -c max_parallel_workers_per_gather=0`,
  }
}
