import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { OperatorError } from '../problems.ts'
import { giveToFolderOwner, makeFolder } from '../system/folder.ts'

/** Where the key is: in a setting, otherwise in a file of the data folder. */
export interface KeySource {
  readonly encryption_key?: string | undefined
  /** The data folder. */
  readonly data: string
}

/** The key for secrets in the database; undefined if its file does not exist. Throws OperatorError if it cannot be read. */
export async function findEncryptionKey({ encryption_key: setting, data }: KeySource): Promise<Uint8Array | undefined> {
  if (setting !== undefined) return Buffer.from(setting, 'base64')
  const text = await readIfThere(keyFile(data)).catch((error: unknown) => {
    throw unusable(data, error)
  })
  return text === undefined ? undefined : parse(text, data)
}

/**
 * The key for secrets in the database. Creates its file if it does not exist. Instances that share a database must share the key.
 * Throws OperatorError if the file cannot be read or created.
 */
export async function ensureEncryptionKey(source: KeySource): Promise<Uint8Array> {
  return (await findEncryptionKey(source)) ?? (await create(source.data))
}

/** The name by which an operator knows the key: its setting or its file. */
export function keyName({ encryption_key: setting, data }: KeySource): string {
  return setting === undefined ? keyFile(data) : 'encryption_key'
}

const keyFile = (data: string): string => path.join(data, 'encryption.key')

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parse(text: string, data: string): Uint8Array {
  const key = Buffer.from(text, 'base64')
  if (key.length === 32) return key
  throw new OperatorError(
    `${keyFile(data)} is damaged: restore it from a backup. If it is lost, delete the file and start with --new-encryption-key.`,
  )
}

/** Atomic: of several instances that start at once, one creates the file, and none reads an incomplete one. */
async function create(data: string): Promise<Uint8Array> {
  const file = keyFile(data)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await makeFolder(data, process.getuid?.() === 0 ? 0o711 : 0o700)
    await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
    try {
      await giveToFolderOwner(draft)
      await link(draft, file)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    } finally {
      await rm(draft, { force: true })
    }
    return parse(await readFile(file, 'utf8'), data)
  } catch (error) {
    throw error instanceof OperatorError ? error : unusable(data, error)
  }
}

function unusable(data: string, error: unknown): OperatorError {
  const reason = error instanceof Error ? error.message : String(error)
  return new OperatorError(
    `The encryption key cannot be read or created (${reason}). Make ${data} writable, or set encryption_key.`,
    { cause: error },
  )
}
