import { Client } from 'pg'
import { OperatorError } from '../problems.ts'
import { connectionConfig, endConnection } from './connection.ts'
import { beginTransaction, endBackend, readBackend, readServer } from './migrations-store.ts'
import { connectionError, poolerError } from './connection-error.ts'

const oldestServer = 15

/**
 * Runs `work` on a separate connection without a statement timeout. Throws OperatorError, one line, if the database cannot
 * be reached, is behind a pooler in transaction mode, is older than PostgreSQL 15 or does not use UTF-8, if `work` fails, or
 * if `stop` aborts, which ends the connection and its statement.
 */
export async function withAdminConnection<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
  stop?: AbortSignal,
): Promise<Result> {
  const client = await connect(url)
  try {
    await refuseUnsuitable(client, url)
    return stop === undefined ? await work(client) : await endedBy(stop, { client, url, work })
  } catch (error) {
    throw error instanceof OperatorError ? error : connectionError(error, client)
  } finally {
    await endConnection(client)
  }
}

interface Interruptible<Result> {
  readonly client: Client
  readonly url: string
  readonly work: (client: Client) => Promise<Result>
}

async function endedBy<Result>(stop: AbortSignal, { client, url, work }: Interruptible<Result>): Promise<Result> {
  const pid = await readBackend(client)
  // By another connection, because PostgreSQL notices only after a statement that its client is gone.
  const end = async (): Promise<void> => {
    try {
      await withAdminConnection(url, (other) => endBackend(other, pid))
    } catch {
      await endConnection(client)
    }
  }
  const onStop = (): void => void end()
  stop.addEventListener('abort', onStop)
  try {
    stop.throwIfAborted()
    return await work(client)
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

async function connect(url: string): Promise<Client> {
  const client = clientFor(url)
  client.on('error', () => undefined)
  await client.connect().catch(async (error: unknown) => {
    // Otherwise a server that waits for a password would keep this process alive for a minute.
    await endConnection(client).catch(() => undefined)
    throw connectionError(error, client)
  })
  return client
}

/** A client that is not connected yet. Throws OperatorError, one line without the password, if the address is not valid. */
export function clientFor(url: string): Client {
  try {
    return new Client(connectionConfig(url, 0))
  } catch (error) {
    // The driver reads the files that the URL names, such as certificates, immediately.
    if (error instanceof Error && 'path' in error && typeof error.path === 'string') {
      throw new OperatorError(`The address of the database names a file that cannot be read: ${error.path}.`)
    }
    // No cause: the driver's error may contain the password.
    throw new OperatorError('The address of the database is not valid: write postgres://user:password@host:port/name.')
  }
}

async function refuseUnsuitable(client: Client, url: string): Promise<void> {
  const server = await readServer(client)
  if (server === undefined || Number(server.number) < oldestServer * 10_000) {
    throw new OperatorError(
      `The database is PostgreSQL ${server?.version}, and Tollgate needs ${oldestServer} or newer. Upgrade it, or use another database.`,
    )
  }
  // Other encodings cannot store every text that a model writes, and SQL_ASCII does not validate what it stores.
  if (server.encoding !== 'UTF8') {
    throw new OperatorError(
      `The database's encoding is ${server.encoding}: recreate it with "create database … encoding 'UTF8' template template0".`,
    )
  }
  if (!isDirect(client, server.backend) && (await swapsConnections(client, url))) throw poolerError(client)
}

/** Whether the connection leads to PostgreSQL itself. A pooler announces the id of no server process. */
function isDirect(client: Client, backend: number): boolean {
  return 'processID' in client && client.processID === backend
}

/** Whether a pooler gives the server process of a connection to another one, as it does in transaction mode. */
async function swapsConnections(client: Client, url: string): Promise<boolean> {
  const before = await readBackend(client)
  const other = await connect(url)
  try {
    const taken = await beginTransaction(other)
    return taken === before || (await readBackend(client)) !== before
  } finally {
    await endConnection(other)
  }
}
