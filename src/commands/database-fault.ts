import type { Config } from '../platform/config/config.ts'
import { clientFor } from '../platform/database/admin-connection.ts'
import { connectionError } from '../platform/database/connection-error.ts'
import { databaseErrorOf } from '../platform/database/failure.ts'
import { embeddedError } from '../platform/embedded-postgres/embedded-error.ts'

/**
 * Turns a failure of the database into one line for the operator, which names the database and its user, or the data folder, and
 * what to do. Returns other errors unchanged.
 */
export function databaseFault(
  error: unknown,
  { database, data }: Pick<Config, 'database' | 'data'>,
  url: string,
): unknown {
  const cause = databaseErrorOf(error)
  if (cause === undefined) return error
  if (database !== 'embedded') return connectionError(cause, clientFor(url))
  const fault = embeddedError(cause, data)
  return fault === cause ? error : fault
}
