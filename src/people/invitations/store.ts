import type { Role } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { insertPerson } from '../store.ts'

/** An invitation that is open: not withdrawn, and its person, if there is one, has no way to sign in yet. It may have expired. */
export interface Invitation {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: Role
  /** Null for the command line. */
  readonly invitedBy: { readonly id: string; readonly name: string } | null
  readonly createdAt: Date
  readonly expiresAt: Date
}

const open = 'i.accepted_at is null and i.withdrawn_at is null'
const selectOpen = `select i.id, i.email, i.name, i.role,
    case when p.id is null then null else json_build_object('id', p.id, 'name', p.name) end as "invitedBy",
    i.created_at as "createdAt", i.expires_at as "expiresAt"
  from invitation i left join person p on p.id = i.invited_by where ${open}`

/** Newest first. */
export function readInvitations(database: Queryable): Promise<Invitation[]> {
  return database.rows(`${selectOpen} order by i.created_at desc, i.id desc`)
}

export async function readInvitation(database: Queryable, id: string): Promise<Invitation | undefined> {
  const [found] = await database.rows<Invitation>(`${selectOpen} and i.id = $1`, [id])
  return found
}

/** Serialises invitations of one address until the transaction ends. */
export async function lockAddress(tx: Queryable, emailKey: string): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('invitation ' || $1, 0))`, [emailKey])
}

export interface NewInvitationRow extends Omit<Invitation, 'invitedBy'> {
  readonly emailKey: string
  readonly invitedBy: string | undefined
  readonly tokenHash: Buffer
}

export async function insertInvitation(tx: Queryable, row: NewInvitationRow): Promise<void> {
  await tx.rows(
    `insert into invitation (id, email, email_key, name, role, invited_by, token_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.id,
      row.email,
      row.emailKey,
      row.name,
      row.role,
      row.invitedBy ?? null,
      row.tokenHash,
      row.createdAt,
      row.expiresAt,
    ],
  )
}

/** Gives an open invitation a new token: the one before no longer works. Undefined if it is not open. */
export async function renewInvitation(
  tx: Queryable,
  { id, tokenHash, expiresAt }: { readonly id: string; readonly tokenHash: Buffer; readonly expiresAt: Date },
): Promise<Invitation | undefined> {
  const rows = await tx.rows(
    `update invitation i set token_hash = $2, expires_at = $3 where i.id = $1 and ${open} returning 1`,
    [id, tokenHash, expiresAt],
  )
  return rows.length > 0 ? readInvitation(tx, id) : undefined
}

/** The open invitation of a person who has accepted it. */
export async function readUnfinished(tx: Queryable, personId: string): Promise<Invitation | undefined> {
  const [found] = await tx.rows<Invitation>(`${selectOpen} and i.person_id = $1`, [personId])
  return found
}

/** Withdraws the open invitation that a person has accepted, if there is one. Returns its id. */
export function withdrawUnfinished(tx: Queryable, personId: string, at: Date): Promise<string[]> {
  return withdrawWhere(tx, 'i.person_id = $1', personId, at)
}

/** Closes the invitation of a person who has a way to sign in. */
export async function closeUnfinished(tx: Queryable, personId: string, at: Date): Promise<void> {
  await tx.rows(`update invitation i set accepted_at = $2 where i.person_id = $1 and ${open}`, [personId, at])
}

/** False if the invitation is not open. */
export async function withdrawInvitation(tx: Queryable, id: string, at: Date): Promise<boolean> {
  const rows = await tx.rows(`update invitation i set withdrawn_at = $2 where i.id = $1 and ${open} returning 1`, [
    id,
    at,
  ])
  return rows.length > 0
}

/** Withdraws the open invitation of an address, if there is one. Returns its id. */
export function withdrawOf(tx: Queryable, emailKey: string, at: Date): Promise<string[]> {
  return withdrawWhere(tx, 'i.email_key = $1', emailKey, at)
}

/** Withdraws the open invitations as partner that a person has sent. Returns their ids. */
export function withdrawPartnersOf(tx: Queryable, personId: string, at: Date): Promise<string[]> {
  return withdrawWhere(tx, `i.invited_by = $1 and i.role = 'partner'`, personId, at)
}

async function withdrawWhere(tx: Queryable, condition: string, value: string, at: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `update invitation i set withdrawn_at = $2 where ${condition} and ${open} returning i.id`,
    [value, at],
  )
  return rows.map(({ id }) => id)
}

/** Deletes those that were over by then: accepted, withdrawn or expired. Returns their ids. */
export async function deleteOverInvitations(tx: Queryable, since: Date): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `delete from invitation where id = any(array(
       select id from invitation where coalesce(accepted_at, withdrawn_at, expires_at) <= $1
       limit 1000 for update skip locked))
     returning id`,
    [since],
  )
  return rows.map(({ id }) => id)
}

/** By the hash of its token or by its address. */
export type InvitationKey = { readonly tokenHash: Buffer } | { readonly emailKey: string }

interface UsableInvitation {
  readonly id: string
  readonly email: string
  readonly emailKey: string
  readonly name: string
  readonly role: Role
  readonly expiresAt: Date
  /** Who has accepted it, and has no way to sign in yet. */
  readonly personId: string | null
}

const selectUsable = `select i.id, i.email, i.email_key as "emailKey", i.name, i.role, i.expires_at as "expiresAt",
    i.person_id as "personId"
  from invitation i where ${open} and i.expires_at > $2`

/** The person of an invitation continues with its link only while they have its address and may sign in. */
const mayContinue = `(i.person_id is null or exists (
    select 1 from person p where p.id = i.person_id and p.email_key = i.email_key and p.status = 'active'))`

function usable(key: InvitationKey, now: Date): [condition: string, values: unknown[]] {
  if ('emailKey' in key) return ['i.email_key = $1 and i.person_id is null', [key.emailKey, now]]
  return [`i.token_hash = $1 and ${mayContinue}`, [key.tokenHash, now]]
}

/** An invitation that can be accepted now. */
export async function readUsable(
  database: Queryable,
  key: InvitationKey,
  now: Date,
): Promise<UsableInvitation | undefined> {
  const [condition, values] = usable(key, now)
  const [found] = await database.rows<UsableInvitation>(`${selectUsable} and ${condition}`, values)
  return found
}

/** An invitation that was accepted: by the person whom it created, now or before. */
export interface AcceptedInvitation {
  readonly id: string
  readonly role: Role
  readonly personId: string
  readonly isNew: boolean
}

/**
 * Creates the person of an invitation, once. By its address, which the person can prove again, it is closed; by its token, it
 * stays open until they have a way to sign in. Undefined if it cannot be accepted, or if the address has another person.
 */
export async function acceptOpen(
  tx: Queryable,
  key: InvitationKey,
  { personId, now }: { readonly personId: string; readonly now: Date },
): Promise<AcceptedInvitation | undefined> {
  const [condition, values] = usable(key, now)
  const [found] = await tx.rows<UsableInvitation>(`${selectUsable} and ${condition} for update`, values)
  if (found === undefined) return undefined
  const { id, name, email, emailKey, role } = found
  if (found.personId !== null) return { id, role, personId: found.personId, isNew: false }
  if (!(await insertPerson(tx, { id: personId, name, email, emailKey, role, createdAt: now }))) return undefined
  const acceptedAt = 'emailKey' in key ? now : null
  await tx.rows('update invitation set accepted_at = $2, person_id = $3 where id = $1', [id, acceptedAt, personId])
  return { id, role, personId, isNew: true }
}

/** The invitations with which a person came, and those to their address. */
export async function deleteInvitations(tx: Queryable, personId: string): Promise<void> {
  await tx.rows(
    'delete from invitation where person_id = $1 or email_key = (select email_key from person where id = $1)',
    [personId],
  )
}
