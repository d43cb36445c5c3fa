import type { Role } from '../access/actor.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PersonChange, PersonSummary } from './person.ts'

const selectPerson = `
  select id, name, email, role, status, created_at as "createdAt", last_signed_in_at as "lastSignedInAt"
  from person`

export interface NewPersonRow {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly emailKey: string | null
  readonly role: Role
  readonly createdAt: Date
}

/** False if another person has the address. */
export async function insertPerson(database: Queryable, person: NewPersonRow): Promise<boolean> {
  const rows = await database.rows(
    `insert into person (id, name, email, email_key, role, created_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (email_key) do nothing returning 1`,
    [person.id, person.name, person.email, person.emailKey, person.role, person.createdAt],
  )
  return rows.length > 0
}

/** All but those who were deleted, sorted by name. */
export function readPeople(database: Queryable): Promise<PersonSummary[]> {
  return database.rows(`${selectPerson} where deleted_at is null order by name, id`)
}

export async function readPerson(database: Queryable, id: string): Promise<PersonSummary | undefined> {
  const [person] = await database.rows<PersonSummary>(`${selectPerson} where id = $1 and deleted_at is null`, [id])
  return person
}

/** Locks the person until the transaction ends. */
export async function lockPerson(tx: Queryable, id: string): Promise<PersonSummary | undefined> {
  const [person] = await tx.rows<PersonSummary>(
    `${selectPerson} where id = $1 and deleted_at is null for no key update`,
    [id],
  )
  return person
}

export async function readPersonByEmail(database: Queryable, key: string): Promise<PersonSummary | undefined> {
  const [person] = await database.rows<PersonSummary>(`${selectPerson} where email_key = $1`, [key])
  return person
}

/** Locks all active partners, in a fixed order, until the transaction ends. Returns their ids. */
export async function lockPartners(tx: Queryable): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from person where role = 'partner' and status = 'active' order by id for no key update`,
  )
  return rows.map(({ id }) => id)
}

/** If role or status changes, a trigger ends the person's sessions and unfinished sign-ins. */
export async function updatePerson(tx: Queryable, id: string, change: Omit<PersonChange, 'email'>): Promise<void> {
  await tx.rows(
    `update person set role = coalesce($2, role), status = coalesce($3, status), name = coalesce($4, name)
     where id = $1`,
    [id, change.role ?? null, change.status ?? null, change.name ?? null],
  )
}

/** Keeps only the id, the name and the role. */
export async function markDeleted(tx: Queryable, id: string, at: Date): Promise<void> {
  await tx.rows(
    `update person set status = 'disabled', email = null, email_key = null, deleted_at = $2 where id = $1`,
    [id, at],
  )
}

/** Lets one of several instances that start at once look at a time. */
export async function lockFirstPartner(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate first partner'))`)
}
