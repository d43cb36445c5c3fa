import type { Client } from 'pg'
import { OperatorError } from '../problems.ts'
import { withAdminConnection } from './admin-connection.ts'
import { pendingMigrations, readMigrations, shippedMigrations, type MigrationFile } from './migration-files.ts'
import {
  applyMigration,
  createMigrationTable,
  hasHistory,
  hasTables,
  lockMigrations,
  readHistory,
} from './migrations-store.ts'

/**
 * Upgrades the schema to this version, each migration in its own transaction. A lock lets several instances start at the
 * same time. Returns the names of the applied migrations. Throws OperatorError, one line, if the database cannot be used,
 * is older than PostgreSQL 15, has a newer schema than this version, or has a different history. Throws too if `stop` aborts: a
 * migration in progress is rolled back.
 */
export function migrate(
  url: string,
  { directory = shippedMigrations, stop }: { directory?: string; stop?: AbortSignal } = {},
): Promise<string[]> {
  const work = async (client: Client): Promise<string[]> => {
    const files = await readMigrations(directory)
    await lockMigrations(client)
    // Checked first: a role that may not create tables can still start on a schema that is up to date.
    if (!(await hasHistory(client))) await createMigrationTable(client)
    const pending = pendingMigrations(files, await readHistory(client))
    for (const file of pending) await apply(client, file)
    return pending.map(({ name }) => name)
  }
  return withAdminConnection(url, work, stop)
}

/** Changes nothing. Throws OperatorError, one line with the command to run, unless the schema is of this version. */
export function requireCurrentSchema(url: string, directory: string = shippedMigrations): Promise<void> {
  return withAdminConnection(url, async (client) => {
    if (!(await hasHistory(client))) throw new OperatorError(await reasonForNoHistory(client))
    const [oldest, ...others] = pendingMigrations(await readMigrations(directory), await readHistory(client))
    if (oldest === undefined) return
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    throw new OperatorError(
      `The database schema is older than this version of Tollgate: it lacks the migration ${oldest.name}${more}. Upgrade it: ./tollgate migrate`,
    )
  })
}

async function reasonForNoHistory(client: Client): Promise<string> {
  return (await hasTables(client))
    ? 'The database has tables, but they are not of Tollgate: check its address. Tollgate needs an empty database.'
    : 'The database is empty. Create the schema: ./tollgate migrate, or ./tollgate start'
}

async function apply(client: Client, file: MigrationFile): Promise<void> {
  try {
    await applyMigration(client, file, file.sql)
  } catch (error) {
    // The connection is closed after this error, which rolls the transaction back.
    const reason = error instanceof Error ? error.message : String(error)
    const { user, database, host, port } = client
    throw new OperatorError(
      `Migration ${file.name} failed and was rolled back: ${reason}. It ran as the user "${user}" in the database "${database}" at ${host}:${port}.`,
      { cause: error },
    )
  }
}
