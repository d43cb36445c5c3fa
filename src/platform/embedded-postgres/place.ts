import { randomBytes } from 'node:crypto'
import { readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../system/folder.ts'
import { OperatorError } from '../problems.ts'

/** Where everything of an embedded database lies. */
export interface Place {
  readonly root: string
  readonly cluster: string
  readonly secrets: string
  readonly log: string
  readonly lock: string
}

/** What other processes need to connect. */
export interface Access {
  readonly password: string
  readonly port: number
}

export const clusterUser = 'tollgate'

/** Makes the data folder. Root lets others pass it, not look into it: the server runs as an ordinary user. */
export async function preparePlace(directory: string): Promise<Place> {
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

/** Reads the password and the port. Throws OperatorError when the file is damaged or gone. */
export async function readAccess(place: Place): Promise<Access> {
  const text = await readFile(place.secrets, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const access = parse(text)
  if (access !== undefined) return access
  throw new OperatorError(
    `${place.secrets} is damaged or gone: restore it from a backup; it has the database's password.`,
  )
}

/** Replaces the file at once, so that it is never half there. Only its owner may read it. */
export async function writeAccess(place: Place, access: Access): Promise<void> {
  const fresh = `${place.secrets}.${randomBytes(6).toString('hex')}`
  await writeFile(fresh, `${JSON.stringify(access)}\n`, { mode: 0o600, flush: true })
  await rename(fresh, place.secrets)
}

/** The address of a database of the cluster. */
export function addressOf({ password, port }: Access, database: string): string {
  return `postgres://${clusterUser}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`
}

function parse(text: string): Access | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isAccess(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isAccess(value: unknown): value is Access {
  if (typeof value !== 'object' || value === null || !('password' in value) || !('port' in value)) return false
  return typeof value.password === 'string' && typeof value.port === 'number'
}
