import { statSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../problems.ts'

/** Whether a data folder holds an embedded database. Creates nothing. Throws OperatorError if this user may not look into it. */
export function hasEmbeddedDatabase(directory: string): boolean {
  try {
    return statSync(join(directory, 'postgres', 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    const advice = 'run the command as the user of the service, or set TOLLGATE_DATA'
    throw new OperatorError(`The database in ${directory} cannot be read by this user: ${advice}.`, { cause: error })
  }
}
