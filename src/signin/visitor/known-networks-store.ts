import type { Queryable } from '../../platform/database/database.ts'

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
