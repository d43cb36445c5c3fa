import type { Queryable } from '../../../platform/database/database.ts'
import { rowKeyOf } from '../../attempt/mailed-links-store.ts'

export interface ResetRow {
  readonly emailKey: string
  readonly email: string
  readonly tokenHash: Buffer
  readonly expiresAt: Date
  readonly networkHash: Buffer
  readonly isKnown: boolean
}

export async function insertReset(tx: Queryable, reset: ResetRow): Promise<void> {
  await tx.rows(
    `insert into password_reset (email_key, email, token_hash, expires_at, network_hash, is_known)
     values ($1, $2, $3, $4, $5, $6)`,
    [rowKeyOf(reset), reset.email, reset.tokenHash, reset.expiresAt, reset.networkHash, reset.isKnown],
  )
}

/** The address that a link proves. */
export async function readReset(database: Queryable, tokenHash: Buffer, now: Date): Promise<string | undefined> {
  const [row] = await database.rows<{ email: string }>(
    'select email from password_reset where token_hash = $1 and expires_at > $2',
    [tokenHash, now],
  )
  return row?.email
}

/** Uses up a link. False if it can no longer be used: of several at once, one succeeds. */
export async function takeReset(tx: Queryable, tokenHash: Buffer, now: Date): Promise<boolean> {
  const rows = await tx.rows('delete from password_reset where token_hash = $1 and expires_at > $2 returning 1', [
    tokenHash,
    now,
  ])
  return rows.length > 0
}
