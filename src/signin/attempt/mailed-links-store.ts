import type { Queryable } from '../../platform/database/database.ts'

/** Live links of one kind to an address. */
const mostLive = 3

/** A table of links that were mailed. */
export interface LinkTable {
  readonly name: string
  /** The condition on the links that a new one replaces: those of its askers, $2. */
  readonly replaced: string
}

/**
 * The condition on rows that this version wrote. An earlier version may have gone on for some time after an upgrade; a new database has
 * all of its migrations at once.
 */
export const isOwnRow = `expires_at > coalesce((select max(at) + interval '1 hour' from migration having max(at) > min(at)), '-infinity')`

interface NewLink {
  readonly emailKey: string
  /** Hashes of the browser's cookies, or of the network. */
  readonly askers: readonly Buffer[]
  /** Whether it is requested from a network in which somebody has signed in with the address. */
  readonly isKnown: boolean
  readonly now: Date
}

/** The primary key of a link: up to three are live for an address, and earlier versions expect this column to be unique. */
export function rowKeyOf(link: { readonly emailKey: string; readonly tokenHash: Buffer }): string {
  return `${link.emailKey} ${link.tokenHash.toString('hex')}`
}

/**
 * Deletes the links that a new one replaces. At the limit, a request from a known network also replaces the oldest link, first
 * one from an unknown network; any other has no room. Returns when there is, or undefined if there is now. Locks the address
 * until the transaction ends.
 */
export async function makeRoom(
  tx: Queryable,
  { name: table, replaced }: LinkTable,
  { emailKey, askers, isKnown, now }: NewLink,
): Promise<Date | undefined> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table} ${emailKey}`])
  await tx.rows(`delete from ${table} where address_key = $1 and (expires_at <= $3 or ${replaced})`, [
    emailKey,
    askers,
    now,
  ])
  const live = await tx.rows<{ token: Buffer; expiresAt: Date }>(
    `select token_hash as token, expires_at as "expiresAt" from ${table} where address_key = $1 order by is_known, expires_at`,
    [emailKey],
  )
  const [oldest] = live
  if (oldest === undefined || live.length < mostLive) return undefined
  if (!isKnown) return live.map(({ expiresAt }) => expiresAt).reduce((one, other) => (one < other ? one : other))
  await tx.rows(`delete from ${table} where token_hash = $1`, [oldest.token])
  return undefined
}
