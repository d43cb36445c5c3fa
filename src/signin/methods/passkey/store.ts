import type { Queryable } from '../../../platform/database/database.ts'

/** The WebAuthn user handle of a person; `handle` becomes it if they have none. */
export async function ensureHandle(database: Queryable, personId: string, handle: Buffer): Promise<Buffer> {
  const [row] = await database.rows<{ handle: Buffer }>(
    `insert into passkey_owner (person_id, handle) values ($1, $2)
     on conflict (person_id) do update set handle = passkey_owner.handle returning handle`,
    [personId, handle],
  )
  return row?.handle ?? handle
}

export interface NewPasskey {
  readonly id: string
  readonly personId: string
  readonly rpId: string
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Date
}

/** False if the credential is registered already. */
export async function insertPasskey(tx: Queryable, passkey: NewPasskey): Promise<boolean> {
  const rows = await tx.rows(
    `insert into passkey (id, person_id, rp_id, credential_id, public_key, counter, transports, name, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (credential_id) do nothing returning 1`,
    [
      passkey.id,
      passkey.personId,
      passkey.rpId,
      passkey.credentialId,
      passkey.publicKey,
      passkey.counter,
      passkey.transports,
      passkey.name,
      passkey.createdAt,
    ],
  )
  return rows.length > 0
}

/** A passkey with its owner. */
export interface PasskeyRow {
  readonly id: string
  readonly personId: string
  readonly handle: Buffer
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: bigint
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}

const selectPasskey = `
  select k.id, k.person_id as "personId", o.handle, k.credential_id as "credentialId", k.public_key as "publicKey",
    k.counter, k.transports, k.name, k.created_at as "createdAt", k.last_used_at as "lastUsedAt"
  from passkey k join passkey_owner o using (person_id)`

/** The person's passkeys for this host, oldest first. */
export function readPasskeysOf(database: Queryable, personId: string, rpId: string): Promise<PasskeyRow[]> {
  return database.rows(`${selectPasskey} where k.person_id = $1 and k.rp_id = $2 order by k.created_at, k.id`, [
    personId,
    rpId,
  ])
}

export async function readPasskey(
  database: Queryable,
  credentialId: Buffer,
  rpId: string,
): Promise<PasskeyRow | undefined> {
  const [passkey] = await database.rows<PasskeyRow>(`${selectPasskey} where k.credential_id = $1 and k.rp_id = $2`, [
    credentialId,
    rpId,
  ])
  return passkey
}

/** Records a use. False if the counter did not increase, unless it is 0 and always was (WebAuthn Level 3 section 7.2). */
export async function usePasskey(
  database: Queryable,
  id: string,
  { counter, at }: { readonly counter: number; readonly at: Date },
): Promise<boolean> {
  const rows = await database.rows(
    `update passkey set counter = $2, last_used_at = $3
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0)) returning 1`,
    [id, counter, at],
  )
  return rows.length > 0
}

/** False if the person has no such passkey. */
export async function renamePasskey(
  tx: Queryable,
  { id, personId }: { readonly id: string; readonly personId: string },
  name: string,
): Promise<boolean> {
  const rows = await tx.rows('update passkey set name = $3 where id = $1 and person_id = $2 returning 1', [
    id,
    personId,
    name,
  ])
  return rows.length > 0
}

/** Deletes one passkey of a person, or all. Returns how many. */
export async function deletePasskeys(
  tx: Queryable,
  { id, personId }: { readonly id?: string; readonly personId: string },
): Promise<number> {
  const rows = await tx.rows('delete from passkey where person_id = $1 and ($2::uuid is null or id = $2) returning 1', [
    personId,
    id ?? null,
  ])
  return rows.length
}
