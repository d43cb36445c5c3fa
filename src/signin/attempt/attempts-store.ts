import type { Queryable } from '../../platform/database/database.ts'
import type { AttemptData } from '../methods/method.ts'
import { unflushed } from '../throttle/store.ts'
import { isOwnRow } from './mailed-links-store.ts'

/** An attempt as it is stored. */
export interface AttemptRow {
  readonly stateHash: Buffer
  readonly browserHash: Buffer
  readonly method: string
  readonly data: AttemptData
  readonly returnTo: string
  /** The person who is to get the identity, instead of a sign-in. */
  readonly linksTo: string | null
  readonly expiresAt: Date
  /** Null before the first proof, like the next two. */
  readonly personId: string | null
  readonly proof: Buffer | null
  /** The provider's name for its session. */
  readonly providerSid: string | null
  /** The second factor that was begun. */
  readonly factor: string | null
  /** Whether the factor is being set up, not shown. */
  readonly enrols: boolean
  readonly tries: number
  /** Null: a version before this column wrote the row. */
  readonly mac: Buffer | null
}

const columns = `state_hash as "stateHash", browser_hash as "browserHash", method, data, return_to as "returnTo", links_to as "linksTo",
  expires_at as "expiresAt", person_id as "personId", proof, provider_sid as "providerSid", factor, enrols, tries, mac`

type BegunColumn = 'stateHash' | 'browserHash' | 'method' | 'data' | 'returnTo' | 'linksTo' | 'expiresAt' | 'mac'

export async function insertAttempt(database: Queryable, attempt: Pick<AttemptRow, BegunColumn>): Promise<void> {
  const { stateHash, browserHash, method, data, returnTo, linksTo, expiresAt, mac } = attempt
  await database.rows(
    `insert into sign_in_attempt (state_hash, browser_hash, method, data, return_to, links_to, expires_at, mac)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [stateHash, browserHash, method, JSON.stringify(data), returnTo, linksTo, expiresAt, mac],
  )
}

/** Identifies an attempt in one browser. */
export interface AttemptKey {
  readonly stateHash: Buffer
  /** The hashes of all sign-in cookies of the request. */
  readonly browserHashes: readonly Buffer[]
  readonly now: Date
}

/** What a method, and what follows it, needs of a row that has begun. */
export type BegunRow = Pick<AttemptRow, 'stateHash' | 'method' | 'data' | 'returnTo' | 'linksTo'>

/** Uses up an attempt; undefined if it cannot be used. Of several at once, one gets it. */
export async function takeBegun(
  database: Queryable,
  { stateHash, browserHashes, now }: AttemptKey,
): Promise<AttemptRow | undefined> {
  const [attempt] = await database.rows<AttemptRow>(
    `update sign_in_attempt set step = 'used'
     where state_hash = $1 and browser_hash = any($2) and expires_at > $3 and step = 'begun'
     returning ${columns}`,
    [stateHash, browserHashes, now],
  )
  return attempt
}

export async function isBegunBy(database: Queryable, { stateHash, browserHashes, now }: AttemptKey): Promise<boolean> {
  const rows = await database.rows(
    `select 1 from sign_in_attempt
     where state_hash = $1 and browser_hash = any($2) and expires_at > $3 and step = 'begun'`,
    [stateHash, browserHashes, now],
  )
  return rows.length > 0
}

/** Uses up an attempt, whichever browser began it. */
export async function claimBegun(database: Queryable, stateHash: Buffer, now: Date): Promise<AttemptRow | undefined> {
  const [attempt] = await database.rows<AttemptRow>(
    `update sign_in_attempt set step = 'used'
     where state_hash = $1 and expires_at > $2 and step = 'begun' returning ${columns}`,
    [stateHash, now],
  )
  return attempt
}

/** A row after a submission was counted. */
export type TriedAttempt<Row> = Row & {
  /** After this one. */
  readonly triesLeft: number
}

/** Counts a submission; undefined if the attempt cannot be used or has no tries left. */
export async function tryBegun(
  database: Queryable,
  { stateHash, browserHashes, now }: AttemptKey,
  maxTries: number,
): Promise<TriedAttempt<AttemptRow> | undefined> {
  const [attempt] = await database.rows<TriedAttempt<AttemptRow>>({
    name: 'sign_in_try',
    text: `update sign_in_attempt set tries = tries + 1, mac = sha256(mac) from ${unflushed}
     where state_hash = $1 and browser_hash = any($2) and expires_at > $3 and step = 'begun' and tries < $4
     returning ${columns}, $4 - tries as "triesLeft"`,
    values: [stateHash, browserHashes, now, maxTries],
  })
  return attempt
}

/** Uses up an attempt. False if it is no longer in that step: of several at once, one succeeds. */
export async function useAttempt(database: Queryable, stateHash: Buffer, step: 'begun' | 'proven'): Promise<boolean> {
  const rows = await database.rows(
    `update sign_in_attempt set step = 'used', data = '{}', factor = null, enrols = false, person_id = null, proof = null,
       provider_sid = null, mac = null
     where state_hash = $1 and step = $2 returning 1`,
    [stateHash, step],
  )
  return rows.length > 0
}

/** What a first proof sets. */
type Proved = Pick<ProvenRow, 'stateHash' | 'browserHash' | 'personId' | 'proof' | 'providerSid' | 'expiresAt' | 'mac'>

/** Turns an attempt that was just used into a proven one, which waits for a second factor. */
export async function proveAttempt(
  database: Queryable,
  { stateHash, browserHash, personId, proof, providerSid, expiresAt, mac }: Proved,
): Promise<void> {
  await database.rows(
    `update sign_in_attempt set step = 'proven', tries = 0, data = '{}', person_id = $2, proof = $3, provider_sid = $4,
       expires_at = $5, browser_hash = $6, mac = $7
     where state_hash = $1 and step = 'used'`,
    [stateHash, personId, proof, providerSid, expiresAt, browserHash, mac],
  )
}

export interface ProvenRow extends AttemptRow {
  readonly personId: string
  readonly proof: Buffer
}

export function isProven(row: AttemptRow): row is ProvenRow {
  return row.personId !== null && row.proof !== null
}

/** The browser's most recent attempt that waits for a second factor. */
export async function readProven(
  database: Queryable,
  { browserHashes, now }: Omit<AttemptKey, 'stateHash'>,
): Promise<ProvenRow | undefined> {
  const [attempt] = await database.rows<ProvenRow>(
    `select ${columns} from sign_in_attempt
     where browser_hash = any($1) and expires_at > $2 and step = 'proven' order by expires_at desc, state_hash limit 1`,
    [browserHashes, now],
  )
  return attempt
}

/** A second factor that is to be shown or set up next. */
export interface BegunStep {
  readonly factor: string
  readonly data: AttemptData
  readonly enrols: boolean
}

/** `macs` by the number of submissions, which another request may be counting. */
export async function beginFactor(
  database: Queryable,
  stateHash: Buffer,
  { factor, data, enrols, macs }: BegunStep & { readonly macs: readonly Buffer[] },
): Promise<void> {
  await database.rows(
    `update sign_in_attempt set factor = $2, data = $3, enrols = $4, mac = ($5::bytea[])[tries + 1]
     where state_hash = $1 and step = 'proven'`,
    [stateHash, factor, JSON.stringify(data), enrols, macs],
  )
}

/** Counts a submission for the second factor; undefined if there are no tries left. */
export async function tryProven(
  database: Queryable,
  stateHash: Buffer,
  maxTries: number,
): Promise<TriedAttempt<ProvenRow> | undefined> {
  const [attempt] = await database.rows<TriedAttempt<ProvenRow>>(
    `update sign_in_attempt set tries = tries + 1, mac = sha256(mac) from ${unflushed}
     where state_hash = $1 and step = 'proven' and tries < $2
     returning ${columns}, $2 - tries as "triesLeft"`,
    [stateHash, maxTries],
  )
  return attempt
}

export async function deleteProven(database: Queryable, browserHashes: readonly Buffer[]): Promise<void> {
  await database.rows(`delete from sign_in_attempt where browser_hash = any($1) and step = 'proven'`, [browserHashes])
}

interface ProvenBy {
  readonly method: string
  readonly issuer: string
  readonly subject: string | undefined
  readonly sid: string | undefined
}

/**
 * The people whose sign-in at a provider waits for a second factor, by their identity, a session there, or both. With both, an
 * attempt without a known session counts, too: it may be the one. An identity alone names its person even without an attempt.
 */
export async function readWaiting(tx: Queryable, { method, issuer, subject, sid }: ProvenBy): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `with named as (select person_id from identity where issuer = $2 and subject = $3)
     select person_id as id from sign_in_attempt where step = 'proven' and method = $1
       and ($3::text is null or person_id in (select person_id from named))
       and ($4::text is null or provider_sid = $4 or ($3 is not null and provider_sid is null))
     union select person_id from named where $4 is null`,
    [method, issuer, subject ?? null, sid ?? null],
  )
  return rows.map(({ id }) => id)
}

export interface FoundAttempt {
  readonly method: string
  readonly step: 'begun' | 'proven' | 'used'
  readonly isOwn: boolean
  readonly isExpired: boolean
  readonly returnTo: string
}

/** An attempt in any step; `isOwn` if it belongs to the browser of the request. */
export async function readAttempt(
  database: Queryable,
  { stateHash, browserHashes, now }: AttemptKey,
): Promise<FoundAttempt | undefined> {
  const [attempt] = await database.rows<FoundAttempt>(
    `select method, step, browser_hash = any($2) as "isOwn", expires_at <= $3 as "isExpired", return_to as "returnTo"
     from sign_in_attempt where state_hash = $1`,
    [stateHash, browserHashes, now],
  )
  return attempt
}

/** The attempts that can go on, of those that this version began. */
export function readOwnAttempts(tx: Queryable): Promise<AttemptRow[]> {
  return tx.rows(`select ${columns} from sign_in_attempt where step <> 'used' and ${isOwnRow}`)
}
