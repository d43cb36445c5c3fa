import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { OperatorError } from '../problems.ts'
import { withAdminConnection } from './admin-connection.ts'
import { codeOf } from './failure.ts'
import { changedFunctions, neededFunctions, readFunctionFiles } from './function-files.ts'
import { pendingMigrations, readMigrations, readSchema, shippedMigrations } from './migration-files.ts'
import {
  applyFunctions,
  applyMigration,
  cancelLockWait,
  createMigrationTable,
  createSchema,
  hasHistory,
  hasTables,
  limitLockWaits,
  lockMigrations,
  readAppliedFunctions,
  readBlocker,
  readHistory,
  readBackend,
  rollBack,
  type BlockingSession,
  type FunctionFile,
  type NewSchema,
} from './migrations-store.ts'

export interface MigrateOptions {
  /** Default: the shipped migrations. */
  readonly directory?: string
  readonly stop?: AbortSignal
  /** Called with a line that names the session whose locks a migration waits for, once for each. */
  readonly onWait?: (line: string) => void
}

/**
 * Upgrades the schema to this version, each migration in its own transaction, and then the functions whose text has changed. A database
 * without a history gets the schema of this version, and the history of one that was upgraded, in one transaction. A lock lets several instances start at the
 * same time. Returns the names of the applied migrations. Throws OperatorError, one line, if the database cannot be used,
 * is older than PostgreSQL 15, has a newer schema than this version, or has a different history. Throws too if `stop` aborts: a
 * migration in progress is rolled back. A migration that cannot lock a table is tried again until it can, so that nobody waits behind it.
 */
export function migrate(
  url: string,
  { directory = shippedMigrations, stop, onWait = () => undefined }: MigrateOptions = {},
): Promise<string[]> {
  const work = async (client: Client): Promise<string[]> => {
    const files = await readMigrations(directory)
    await lockMigrations(client)
    // Checked first: a role that may not create tables can still start on a schema that is up to date.
    if (!(await hasHistory(client))) await createMigrationTable(client)
    const history = await readHistory(client)
    const schema = history.length === 0 ? await readSchema(directory) : undefined
    if (schema !== undefined) {
      const apply = await creationOf(client, { schema, migrations: files, directory })
      await applyInTurn(client, { label: 'The creation of the schema', apply }, { url, onWait })
      return files.map(({ name }) => name)
    }
    const pending = pendingMigrations(files, history)
    for (const file of pending) {
      const step = { label: `Migration ${file.name}`, apply: () => applyMigration(client, file, file.sql) }
      await applyInTurn(client, step, { url, onWait })
    }
    const changed = await findChangedFunctions(client, directory)
    if (changed.length > 0) {
      await applyInTurn(
        client,
        { label: 'The change of functions', apply: () => applyFunctions(client, changed) },
        { url, onWait },
      )
    }
    return pending.map(({ name }) => name)
  }
  return withAdminConnection(url, work, stop)
}

/** Changes nothing. Throws OperatorError, one line with the command to run, unless the schema is of this version. */
export function requireCurrentSchema(url: string, directory: string = shippedMigrations): Promise<void> {
  return withAdminConnection(url, async (client) => {
    if (!(await hasHistory(client))) throw new OperatorError(await reasonForNoHistory(client))
    const [oldest, ...others] = pendingMigrations(await readMigrations(directory), await readHistory(client))
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    if (oldest !== undefined) throw olderSchema(`the migration ${oldest.name}${more}`)
    const [changed] = await findChangedFunctions(client, directory)
    if (changed !== undefined) throw olderSchema(`this version's function ${changed.name}`)
  })
}

const olderSchema = (lacking: string): OperatorError =>
  new OperatorError(
    `The database schema is older than this version of Tollgate: it lacks ${lacking}. Upgrade it: ./tollgate migrate`,
  )

interface Creation extends Pick<NewSchema, 'schema' | 'migrations'> {
  readonly directory: string
}

async function creationOf(client: Client, { directory, ...creation }: Creation): Promise<() => Promise<void>> {
  const files = await readFunctionFiles(directory)
  const needed = neededFunctions(files, creation.schema)
  const [first, others] = [files.filter((file) => needed.has(file)), files.filter((file) => !needed.has(file))]
  return () => createSchema(client, { ...creation, first, others })
}

/** Once all migrations are applied. */
async function findChangedFunctions(client: Client, directory: string): Promise<readonly FunctionFile[]> {
  const files = await readFunctionFiles(directory)
  return files.length === 0 ? [] : changedFunctions(files, await readAppliedFunctions(client))
}

async function reasonForNoHistory(client: Client): Promise<string> {
  return (await hasTables(client))
    ? 'The database has tables, but they are not of Tollgate: check its address. Tollgate needs an empty database.'
    : 'The database is empty. Create the schema: ./tollgate migrate, or ./tollgate start'
}

interface Waiting {
  readonly url: string
  readonly onWait: (line: string) => void
}

/** How long the first attempt, which nothing watches, waits for each lock, in ms. No migration takes forty. */
const briefly = 50
/** How long a later attempt waits for each lock, in ms. */
const longest = 500
/** Milliseconds between two attempts, in which the others go on. */
const pause = 1000
/** How often a waiting migration looks for the session in the way, in ms. */
const lookEvery = 100
/** In how many of those looks an attempt may be found waiting, for any lock: what it has locked keeps others waiting as well. */
const mostWaits = 5

/** A transaction of the upgrade. */
interface Step {
  /** As the subject of a sentence. */
  readonly label: string
  readonly apply: () => Promise<void>
}

async function applyInTurn(client: Client, step: Step, { url, onWait }: Waiting): Promise<void> {
  await limitLockWaits(client, briefly)
  if (await attempt(client, step)) return
  await limitLockWaits(client, longest)
  await withAdminConnection(url, async (observer) => {
    let known: number | undefined
    const name = (session: BlockingSession): void => {
      if (session.pid !== known) onWait(lineFor(step, session))
      known = session.pid
    }
    const pid = await readBackend(client)
    do await wait(pause)
    while (!(await attemptWatched(client, step, { observer, pid, name })))
  })
}

interface Watch {
  readonly observer: Client
  readonly pid: number | undefined
  readonly name: (session: BlockingSession) => void
}

/** Names the sessions that the attempt waits for, and ends it if it waits too often. */
async function attemptWatched(client: Client, step: Step, { observer, pid, name }: Watch): Promise<boolean> {
  const giveUp = new AbortController()
  const work = attempt(client, step, giveUp.signal)
  const ended = work.then(
    () => true,
    () => true,
  )
  let waits = 0
  while (!(await Promise.race([ended, wait(lookEvery, false)]))) {
    const session = await readBlocker(observer, pid)
    if (session === undefined) continue
    name(session)
    waits++
    if (waits < mostWaits) continue
    giveUp.abort()
    await cancelLockWait(observer, pid)
  }
  return work
}

function lineFor({ label }: Step, { pid, application, since, command }: BlockingSession): string {
  const began = since === null ? '' : ` since ${since.toISOString()}`
  return `${label} waits for the session ${pid} (${application}), which has held locks${began} and last ran: ${command}`
}

/** Returns false if the tables could not be locked in time, or before `giveUp` aborted and the statement was cancelled. */
async function attempt(client: Client, { label, apply }: Step, giveUp?: AbortSignal): Promise<boolean> {
  try {
    await apply()
    return true
  } catch (error) {
    if (codeOf(error) === '55P03' || (codeOf(error) === '57014' && giveUp?.aborted === true)) {
      await rollBack(client)
      return false
    }
    // The connection is closed after this error, which rolls the transaction back.
    const reason = error instanceof Error ? error.message : String(error)
    const { user, database, host, port } = client
    throw new OperatorError(
      `${label} failed and was rolled back: ${reason}. It ran as the user "${user}" in the database "${database}" at ${host}:${port}.`,
      { cause: error },
    )
  }
}
