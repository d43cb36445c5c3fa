import type { Queryable } from '../../platform/database/database.ts'

/** Keeps, until `expiresAt`, the hash among these of a browser in which the person has signed in. */
export async function renewBrowser(
  tx: Queryable,
  personId: string,
  { hashes, expiresAt }: { readonly hashes: readonly Buffer[]; readonly expiresAt: Date },
): Promise<Buffer | undefined> {
  const [row] = await tx.rows<{ hash: Buffer }>(
    'update known_browser set expires_at = $3 where person_id = $1 and hash = any($2) returning hash',
    [personId, hashes, expiresAt],
  )
  return row?.hash
}

/** Returns the person's address, if they have one, and whether they have signed in in another browser. */
export async function insertBrowser(
  tx: Queryable,
  personId: string,
  { hash, expiresAt, now }: { readonly hash: Buffer; readonly expiresAt: Date; readonly now: Date },
): Promise<{ readonly email: string | null; readonly hasOthers: boolean }> {
  const [row] = await tx.rows<{ email: string | null; hasOthers: boolean }>(
    `with added as (insert into known_browser (person_id, hash, expires_at) values ($1, $2, $3))
     select email, exists (select from known_browser where person_id = $1 and expires_at > $4) as "hasOthers"
     from person where id = $1`,
    [personId, hash, expiresAt, now],
  )
  return row ?? { email: null, hasOthers: false }
}

export async function readEmailKey(tx: Queryable, personId: string): Promise<string | undefined> {
  const [row] = await tx.rows<{ emailKey: string | null }>('select email_key as "emailKey" from person where id = $1', [
    personId,
  ])
  return row?.emailKey ?? undefined
}

export async function writeNetworks(tx: Queryable, hashes: readonly Buffer[], expiresAt: Date): Promise<void> {
  await tx.rows(
    `insert into known_network (hash, expires_at) select hash, $2 from unnest($1::bytea[]) hash
     on conflict (hash) do update set expires_at = excluded.expires_at`,
    [hashes, expiresAt],
  )
}

export async function isKnown(database: Queryable, hash: Buffer, now: Date): Promise<boolean> {
  const rows = await database.rows('select 1 from known_network where hash = $1 and expires_at > $2', [hash, now])
  return rows.length > 0
}
