import type { Role } from '../../../access/actor.ts'
import type { Queryable } from '../../../platform/database/database.ts'
import { lockActivePerson, lockSignedIn } from '../../attempt/locked-person-store.ts'
import { isOwnRow, rowKeyOf, type LinkTable } from '../../attempt/mailed-links-store.ts'

/** The person with an address, and the hash of their password if they have one. */
export interface PasswordOwner {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly hash: string | null
  readonly changedAt: Date | null
}

const ownerColumns = 'p.id, p.email, p.role, w.hash, w.changed_at as "changedAt"'

export async function readPasswordOwner(database: Queryable, emailKey: string): Promise<PasswordOwner | undefined> {
  const [owner] = await database.rows<PasswordOwner>({
    name: 'password_owner',
    text: `select ${ownerColumns} from person p left join password w on w.person_id = p.id where p.email_key = $1`,
    values: [emailKey],
  })
  return owner
}

const selectById = `select ${ownerColumns} from person p left join password w on w.person_id = p.id
  where p.id = $1 and p.email is not null`

/** Undefined for a person without an address. */
export async function readPasswordOwnerById(database: Queryable, personId: string): Promise<PasswordOwner | undefined> {
  const [owner] = await database.rows<PasswordOwner>(selectById, [personId])
  return owner
}

/** The same, with the person locked until the transaction ends. Undefined also for a person who may not sign in. */
export async function lockPasswordOwner(tx: Queryable, personId: string): Promise<PasswordOwner | undefined> {
  return (await lockActivePerson(tx, personId)) && readPasswordOwnerById(tx, personId)
}

/** The same for the person of a session. Undefined also if the session has ended. */
export async function lockOwnPassword(
  tx: Queryable,
  session: Parameters<typeof lockSignedIn>[1],
): Promise<PasswordOwner | undefined> {
  return (await lockSignedIn(tx, session)) && readPasswordOwnerById(tx, session.person.id)
}

export async function hasPassword(database: Queryable, personId: string): Promise<boolean> {
  const rows = await database.rows('select 1 from password where person_id = $1', [personId])
  return rows.length > 0
}

/** Whether the person has the password that was read. A new hash of the same password is no change. */
export async function isUnchanged(
  tx: Queryable,
  { id, changedAt }: Pick<PasswordOwner, 'id' | 'changedAt'>,
): Promise<boolean> {
  const rows = await tx.rows('select 1 from password where person_id = $1 and changed_at = $2', [id, changedAt])
  return rows.length > 0
}

export async function writePassword(
  tx: Queryable,
  { personId, hash, at }: { readonly personId: string; readonly hash: string; readonly at: Date },
): Promise<void> {
  await tx.rows(
    `insert into password (person_id, hash, changed_at) values ($1, $2, $3)
     on conflict (person_id) do update set hash = excluded.hash, changed_at = excluded.changed_at`,
    [personId, hash, at],
  )
}

export interface HashRenewal {
  readonly personId: string
  readonly before: string
  readonly hash: string
}

/** Replaces the hash of the same password. False if the password was changed in the meantime. */
export async function renewHash(tx: Queryable, { personId, before, hash }: HashRenewal): Promise<boolean> {
  const rows = await tx.rows('update password set hash = $3 where person_id = $1 and hash = $2 returning 1', [
    personId,
    before,
    hash,
  ])
  return rows.length > 0
}

/** False if there was none. */
export async function deletePassword(tx: Queryable, personId: string): Promise<boolean> {
  const rows = await tx.rows('delete from password where person_id = $1 returning 1', [personId])
  return rows.length > 0
}

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
