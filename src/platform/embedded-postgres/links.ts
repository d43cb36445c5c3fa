import { readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { OperatorError } from '../problems.ts'

/**
 * npm packages cannot contain symbolic links. This one lists them, and its install script, which is not run, creates them.
 * Throws OperatorError if links are missing and this user may not create them.
 */
export async function completeLinks(root: string): Promise<void> {
  const list: unknown = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8'))
  for (const { source, target } of Array.isArray(list) ? list.filter(isLink) : []) {
    await symlink(relative(dirname(target), source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw new OperatorError(unlinked(root, error.code), { cause: error })
    })
  }
}

function unlinked(root: string, code: string | undefined): string {
  return (
    `PostgreSQL is not set up yet, and this user may not set it up in ${root} (${code}): ` +
    'run "./tollgate doctor" once as the user that installed Tollgate.'
  )
}

function isLink(entry: unknown): entry is { source: string; target: string } {
  if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) return false
  return typeof entry.source === 'string' && typeof entry.target === 'string'
}
