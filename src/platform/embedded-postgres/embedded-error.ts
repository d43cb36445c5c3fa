import { codeOf } from '../database/failure.ts'
import { OperatorError } from '../problems.ts'

/** States in one line why the embedded database cannot be used and what to do. Unknown errors are returned unchanged. */
export function embeddedError(error: unknown, directory: string): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === undefined) return error
  const path = 'path' in error && typeof error.path === 'string' ? error.path : directory
  return new OperatorError(sentence(code, path, error.message), { cause: error })
}

function sentence(code: string, path: string, message: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `This user may not use ${path}: give it to this user, or set TOLLGATE_DATA to another folder.`
    case 'ENOSPC':
    case 'EDQUOT':
    case '53100':
      return `The disk of ${path} is full: free some space, or set TOLLGATE_DATA to a folder on another disk.`
    case 'EROFS':
    case 'ENOENT':
      return `${path} cannot be created or written: set TOLLGATE_DATA to another folder.`
    case 'EEXIST':
    case 'ENOTDIR':
    case 'ENOTEMPTY':
      return `${path} cannot be the data folder, because something else is there: set TOLLGATE_DATA to another folder.`
    case '28P01':
      return `The password in ${path}/postgres.json is not the database's: restore the file from a backup.`
    default:
      return `The embedded database in ${path} cannot be used: ${message}.`
  }
}
