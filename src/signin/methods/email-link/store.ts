import type { Queryable } from '../../../platform/database/database.ts'
import { isOwnRow, rowKeyOf, type LinkTable } from '../../attempt/mailed-links-store.ts'

/** A new link replaces those of the same browser. */
export const linkTable: LinkTable = {
  name: 'email_link',
  replaced: 'state_hash in (select a.state_hash from sign_in_attempt a where a.browser_hash = any($2))',
}

/** A link that was mailed and is still usable. */
export interface LinkRow {
  readonly tokenHash: Buffer
  /** As the person entered it. */
  readonly email: string
  /** Encrypted. */
  readonly code: Buffer
  /** The hash of the attempt that requested it. */
  readonly stateHash: Buffer
  /** The browser that requested it. */
  readonly device: string
}

export interface NewLink extends LinkRow {
  readonly emailKey: string
  readonly expiresAt: Date
  readonly isKnown: boolean
}

export async function insertLink(tx: Queryable, link: NewLink): Promise<void> {
  await tx.rows(
    `insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at, is_known)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [rowKeyOf(link), link.email, link.tokenHash, link.code, link.stateHash, link.device, link.expiresAt, link.isKnown],
  )
}

const columns = `token_hash as "tokenHash", email, code, state_hash as "stateHash", device`

export async function readLink(database: Queryable, tokenHash: Buffer, now: Date): Promise<LinkRow | undefined> {
  const [link] = await database.rows<LinkRow>(
    `select ${columns} from email_link where token_hash = $1 and expires_at > $2`,
    [tokenHash, now],
  )
  return link
}

/** Gives the link to one of several requests at once. */
export async function consumeLink(database: Queryable, tokenHash: Buffer, now: Date): Promise<LinkRow | undefined> {
  const [link] = await database.rows<LinkRow>(
    `delete from email_link where token_hash = $1 and expires_at > $2 returning ${columns}`,
    [tokenHash, now],
  )
  return link
}

/** The links with their primary keys. */
export function readOwnLinks(tx: Queryable): Promise<(LinkRow & { readonly id: string })[]> {
  return tx.rows(`select email_key as id, ${columns} from email_link where ${isOwnRow}`)
}
