import type { Database } from '../../src/platform/database/database.ts'
import { createEncryption } from '../../src/platform/encryption/encryption.ts'
import { readOwnAttempts } from '../../src/signin/attempt/attempts-store.ts'
import { macsOf } from '../../src/signin/attempt/binding.ts'
import { encryptionKey } from './service.ts'

/** Makes what browsers have begun, and what ends before the sign-in itself, that many minutes older. */
export async function ageBegun(database: Database, minutes: number): Promise<void> {
  for (const row of await readOwnAttempts(database)) {
    const { expires } = row.data
    if (typeof expires !== 'number') continue
    const data = { ...row.data, expires: expires - minutes * 60_000 }
    const mac = macsOf(createEncryption(encryptionKey), { ...row, data })[row.tries]
    await database.rows('update sign_in_attempt set data = $2, mac = $3 where state_hash = $1', [
      row.stateHash,
      JSON.stringify(data),
      mac,
    ])
  }
}
