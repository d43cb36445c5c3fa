import type { Queryable } from '../database/database.ts'

/** Undefined until the first start. */
export async function readEncryptionCheck(database: Queryable): Promise<Uint8Array | undefined> {
  const [row] = await database.rows<{ encrypted: Uint8Array }>('select encrypted from encryption_check')
  return row?.encrypted
}

/** Writes it if there is none, and returns the one that is there. */
export async function ensureEncryptionCheck(database: Queryable, encrypted: Uint8Array): Promise<Uint8Array> {
  await database.rows('insert into encryption_check (encrypted) values ($1) on conflict do nothing', [encrypted])
  return (await readEncryptionCheck(database)) ?? ensureEncryptionCheck(database, encrypted)
}

/** Returns whether there was one. */
export async function removeEncryptionCheck(database: Queryable): Promise<boolean> {
  const rows = await database.rows('delete from encryption_check returning true')
  return rows.length > 0
}
