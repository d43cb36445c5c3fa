import type { Queryable } from '../database/database.ts'
import { ensureEncryptionCheck, readEncryptionCheck } from './encryption-check-store.ts'
import { ensureEncryptionKey, findEncryptionKey, keyName, type KeySource } from './encryption-key.ts'
import { createEncryption, type Encryption } from './encryption.ts'
import { OperatorError } from '../problems.ts'

const context = 'encryption_check'
const word = 'tollgate'

/**
 * The encryption of this database's secrets. The first start with a database creates the key if there is none, and leaves a
 * word encrypted with it, by which a later one recognises it. Throws OperatorError if the key is missing, unreadable or another.
 */
export async function openEncryption(database: Queryable, source: KeySource): Promise<Encryption> {
  const known = await confirmEncryption(database, source)
  if (known !== undefined) return known
  const encryption = createEncryption(await ensureEncryptionKey(source))
  // An instance that starts at the same time may have been first, with another key.
  return confirm(encryption, await ensureEncryptionCheck(database, encryption.encrypt(word, context)), source)
}

/**
 * The encryption of this database's secrets; undefined before the first start. Changes nothing. Throws OperatorError if the key is
 * missing, unreadable or another.
 */
export async function confirmEncryption(database: Queryable, source: KeySource): Promise<Encryption | undefined> {
  const check = await readEncryptionCheck(database)
  // Read after the check, which another instance may write at this moment: it has written its key before that.
  const key = await findEncryptionKey(source)
  if (check === undefined) return undefined
  if (key === undefined) {
    throw new OperatorError(`${keyName(source)} is missing, and this database has secrets encrypted with it. ${remedy}`)
  }
  return confirm(createEncryption(key), check, source)
}

function confirm(encryption: Encryption, check: Uint8Array, source: KeySource): Encryption {
  if (encryption.decrypt(check, context) === word) return encryption
  throw new OperatorError(
    `${keyName(source)} is not the key with which this database's secrets were encrypted. ${remedy}`,
  )
}

const remedy =
  'Restore the key from a backup, or set encryption_key. If it is lost, start once with --new-encryption-key: what it ' +
  'encrypted then stays unreadable (see "Backup" in docs/operating.md).'
