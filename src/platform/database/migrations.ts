import type { Client } from 'pg'
import { OperatorError } from '../problems.ts'
import { withAdminConnection } from './admin-connection.ts'
import { changedFunctions, neededFunctions, readFunctionFiles } from './function-files.ts'
import { applyInTurn } from './lock-waits.ts'
import { pendingMigrations, readMigrations, readSchema, shippedMigrations } from './migration-files.ts'
import {
  applyFunctions,
  applyMigration,
  createMigrationTable,
  createSchema,
  hasHistory,
  hasTables,
  lockMigrations,
  readAppliedFunctions,
  readHistory,
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
