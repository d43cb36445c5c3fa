import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { giveToFolderOwner, makeFolder } from '../system/folder.ts'
import { OperatorError } from '../problems.ts'

/** The files of an embedded database. */
export interface ClusterFiles {
  readonly root: string
  readonly cluster: string
  readonly secrets: string
  readonly log: string
  readonly lock: string
}

/** The connection details for other processes. */
export interface ClusterCredentials {
  /** The password of the owner of the database. */
  readonly password: string
  /** The password of the superuser. */
  readonly superuser: string
  readonly port: number
}

/** The owner of the database: an ordinary user who may create roles, as on a server of the firm's own. */
export const ownerName = 'tollgate'
/** The superuser of the cluster. Tollgate uses it only to create the owner and the database. */
export const superuserName = 'postgres'

/** Creates the data folder. As root, others may pass through it but not list it: the server runs as an ordinary user. */
export async function prepareDataFolder(directory: string): Promise<ClusterFiles> {
  await makeFolder(directory, process.getuid?.() === 0 ? 0o711 : 0o700)
  const root = await realpath(directory)
  return {
    root,
    cluster: join(root, 'postgres'),
    secrets: join(root, 'postgres.json'),
    log: join(root, 'postgres.log'),
    lock: join(root, 'postgres.lock'),
  }
}

/** Reads the passwords and the port. Throws OperatorError if the file is damaged or missing. */
export async function readCredentials(files: ClusterFiles): Promise<ClusterCredentials> {
  const text = await readFile(files.secrets, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const credentials = parse(text)
  if (credentials !== undefined) return credentials
  throw new OperatorError(
    `${files.secrets} is damaged or missing: restore it from a backup. It has the passwords of the database.`,
  )
}

/** Replaces the file atomically. Only the owner of the data folder may read it. */
export async function writeCredentials(files: ClusterFiles, credentials: ClusterCredentials): Promise<void> {
  const fresh = `${files.secrets}.${randomBytes(6).toString('hex')}`
  await writeFile(fresh, `${JSON.stringify(credentials)}\n`, { mode: 0o600, flush: true })
  await giveToFolderOwner(fresh)
  await rename(fresh, files.secrets)
}

/** The address of a database of the cluster, as the owner. */
export function addressOf({ password, port }: ClusterCredentials, database: string): string {
  return address(ownerName, password, port, database)
}

/** The address of a database of the cluster, as the superuser. */
export function superuserAddressOf({ superuser, port }: ClusterCredentials, database: string): string {
  return address(superuserName, superuser, port, database)
}

function address(user: string, password: string, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`
}

function parse(text: string): ClusterCredentials | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isCredentials(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isCredentials(value: unknown): value is ClusterCredentials {
  if (typeof value !== 'object' || value === null) return false
  const { password, superuser, port } = { password: undefined, superuser: undefined, port: undefined, ...value }
  return typeof password === 'string' && typeof superuser === 'string' && typeof port === 'number'
}

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
