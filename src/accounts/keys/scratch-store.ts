import type { Queryable } from '../../platform/database/database.ts'

/** The person and the account of a scratch key. */
export interface ScratchKeyOf {
  readonly personId: string
  readonly accountId: string
}

export interface ScratchKeyRow {
  readonly id: string
  readonly publicId: string
  /** When the person can get another key; null: it is not revoked. */
  readonly replaceableAt: Date | null
  /** Whether its expiry must be extended. */
  readonly isDue: boolean
}

/** How long a key is valid after its last use, and how long a revocation keeps its person from getting another one. */
const lifetime = `interval '24 hours'`
/** The expiry is extended at most once an hour. */
const dueBelow = `interval '23 hours'`

/** The person's key, or the one whose revocation keeps them from getting another. It comes first. */
export async function readScratchKey(database: Queryable, of: ScratchKeyOf): Promise<ScratchKeyRow | undefined> {
  const [key] = await database.rows<ScratchKeyRow>(
    `select id, public_id as "publicId", revoked_at + ${lifetime} as "replaceableAt",
       expires_at < clock_timestamp() + ${dueBelow} as "isDue"
     from api_key where person_id = $1 and account_id = $2
       and (revoked_at is null or revoked_at > clock_timestamp() - ${lifetime})
     order by revoked_at desc nulls last limit 1`,
    [of.personId, of.accountId],
  )
  return key
}

export interface NewScratchKey extends ScratchKeyOf {
  readonly id: string
  readonly publicId: string
  readonly secretHash: Buffer
  readonly name: string
}

/** False if the person has a key. */
export async function insertScratchKey(tx: Queryable, key: NewScratchKey): Promise<boolean> {
  const rows = await tx.rows(
    `insert into api_key (person_id, account_id, id, public_id, secret_hash, name, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + ${lifetime})
     on conflict (person_id, account_id) where person_id is not null and revoked_at is null do nothing returning 1`,
    [key.personId, key.accountId, key.id, key.publicId, key.secretHash, key.name],
  )
  return rows.length > 0
}

/** Makes it valid for its whole lifetime again. */
export async function renewScratchKey(database: Queryable, { id }: Pick<ScratchKeyRow, 'id'>): Promise<void> {
  await database.rows(
    `update api_key set expires_at = clock_timestamp() + ${lifetime} where id = $1 and revoked_at is null`,
    [id],
  )
}
