import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { OperatorError } from './problems.ts'
import { makeFolder } from './system/folder.ts'

interface KeySource {
  /** The setting `encryption_key`; it takes precedence over the file. */
  readonly encryption_key?: string | undefined
  /** The data folder. */
  readonly data: string
}

/**
 * The key for secrets in the database. Without the setting it is a file of the data folder, created on first use.
 * Instances that share a database must share the key. Throws OperatorError if the file cannot be read or created.
 */
export async function readEncryptionKey({ encryption_key: setting, data }: KeySource): Promise<Uint8Array> {
  if (setting !== undefined) return Buffer.from(setting, 'base64')
  const file = fileIn(data)
  try {
    await makeFolder(data, process.getuid?.() === 0 ? 0o711 : 0o700)
    const text = (await readIfThere(file)) ?? (await create(file))
    const key = Buffer.from(text, 'base64')
    if (key.length === 32) return key
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `The encryption key cannot be read or created (${reason}). Make ${data} writable, or set encryption_key.`,
      { cause: error },
    )
  }
  throw new OperatorError(`${file} is damaged: restore it from a backup. Or delete it to create a new key.`)
}

/** Throws OperatorError if there is a file with a key that cannot be used. Creates nothing. */
export async function checkEncryptionKey({ encryption_key: setting, data }: KeySource): Promise<void> {
  if (setting === undefined && existsSync(fileIn(data))) await readEncryptionKey({ data })
}

const fileIn = (data: string): string => path.join(data, 'encryption.key')

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Atomic: of several instances that start at once, one creates the file, and none reads an incomplete one. */
async function create(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    await link(draft, file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(file, 'utf8')
}
