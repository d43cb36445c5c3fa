import type { Queryable } from '../../../platform/database/database.ts'
import { isOwnRow, rowKeyOf, type LinkTable } from '../../attempt/mailed-links-store.ts'

/** A new link replaces those of the same network. */
export const resetTable: LinkTable = { name: 'password_reset', replaced: 'network_hash = any($2)' }

export interface ResetRow {
  readonly emailKey: string
  readonly email: string
  readonly tokenHash: Buffer
  readonly expiresAt: Date
  /** The address, encrypted for this link. */
  readonly proof: Buffer
  readonly networkHash: Buffer
  readonly isKnown: boolean
}

export async function insertReset(tx: Queryable, reset: ResetRow): Promise<void> {
  await tx.rows(
    `insert into password_reset (email_key, email, token_hash, proof, expires_at, network_hash, is_known)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [rowKeyOf(reset), reset.email, reset.tokenHash, reset.proof, reset.expiresAt, reset.networkHash, reset.isKnown],
  )
}

/** A link that can be used. */
export interface FoundReset extends Pick<ResetRow, 'email' | 'tokenHash'> {
  /** Null: a version before this column wrote it. */
  readonly proof: Buffer | null
}

export async function readReset(database: Queryable, tokenHash: Buffer, now: Date): Promise<FoundReset | undefined> {
  const [row] = await database.rows<FoundReset>(
    'select email, token_hash as "tokenHash", proof from password_reset where token_hash = $1 and expires_at > $2',
    [tokenHash, now],
  )
  return row
}

/** Uses up a link. False if it can no longer be used: of several at once, one succeeds. */
export async function takeReset(tx: Queryable, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.rows('delete from password_reset where token_hash = $1 and expires_at > $2 returning 1', [
    tokenHash,
    now,
  ])
  return rows.length > 0
}

/** The links with their primary keys. */
export function readOwnResets(tx: Queryable): Promise<(FoundReset & { readonly id: string })[]> {
  return tx.rows(
    `select email_key as id, token_hash as "tokenHash", email, proof from password_reset where ${isOwnRow}`,
  )
}
