import path from 'node:path'
import { codeOf, noAnswer } from '../database/failure.ts'
import { OperatorError } from '../problems.ts'

/** States in one line why the embedded database cannot be used and what to do. Unknown errors are returned unchanged. */
export function embeddedError(error: unknown, directory: string): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (noAnswer.test(error.message)) {
    return new OperatorError(
      `The embedded database in ${directory} does not respond. Check that its disk is not full, and see its log: ${path.join(directory, 'postgres.log')}`,
      { cause: error },
    )
  }
  if (code === undefined) return error
  const place = 'path' in error && typeof error.path === 'string' ? error.path : directory
  return new OperatorError(sentence(code, place, error.message), { cause: error })
}

function sentence(code: string, place: string, message: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `This user may not use ${place}: give it to this user, or set TOLLGATE_DATA to another folder.`
    case 'ENOSPC':
    case 'EDQUOT':
    case '53100':
      return `The disk of ${place} is full: free some space, or move the folder to another disk and set TOLLGATE_DATA to it.`
    case 'EROFS':
    case 'ENOENT':
      return `${place} cannot be created or written: set TOLLGATE_DATA to another folder.`
    case 'EEXIST':
    case 'ENOTDIR':
    case 'ENOTEMPTY':
      return `${place} cannot be the data folder, because something else is there: set TOLLGATE_DATA to another folder.`
    case '28P01':
      return `The password in ${place}/postgres.json is not the database's: restore the file from a backup.`
    default:
      return `The embedded database in ${place} cannot be used: ${message}.`
  }
}
