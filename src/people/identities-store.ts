import { codeOf } from '../platform/database/failure.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { Identity, ListedIdentity, PersonSummary } from './person.ts'

const uniqueViolation = '23505'
const columns = `p.id, p.name, p.email, p.role, p.status, p.created_at as "createdAt",
  p.last_signed_in_at as "lastSignedInAt"`

/** Serialises sign-ins with the same identity until the transaction ends. */
export async function lockIdentity(tx: Queryable, { issuer, subject }: Identity): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [JSON.stringify([issuer, subject])])
}

export async function readPersonOf(
  database: Queryable,
  { issuer, subject }: Identity,
): Promise<PersonSummary | undefined> {
  const [person] = await database.rows<PersonSummary>(
    `select ${columns} from identity i join person p on p.id = i.person_id where i.issuer = $1 and i.subject = $2`,
    [issuer, subject],
  )
  return person
}

/** The active person with an address and no identity yet, locked so that only one identity can claim them. */
export async function lockUnclaimed(tx: Queryable, emailKey: string): Promise<PersonSummary | undefined> {
  const [person] = await tx.rows<PersonSummary>(
    `select ${columns} from person p where email_key = $1 and status = 'active' for no key update`,
    [emailKey],
  )
  if (person === undefined) return undefined
  const identities = await tx.rows('select 1 from identity where person_id = $1', [person.id])
  return identities.length === 0 ? person : undefined
}

/** False if the identity belongs to a person already. `emailKey` is the address that the provider reported, if any. */
export async function insertIdentity(
  tx: Queryable,
  { issuer, subject }: Identity,
  { personId, at, emailKey }: { personId: string; at: Date; emailKey?: string },
): Promise<boolean> {
  const rows = await tx.rows(
    `insert into identity (issuer, subject, person_id, created_at, email_key) values ($1, $2, $3, $4, $5)
     on conflict do nothing returning 1`,
    [issuer, subject, personId, at, emailKey ?? null],
  )
  return rows.length > 0
}

/** Keeps the address that a provider reports. True if it reported another one before. */
export async function noteReported(tx: Queryable, { issuer, subject }: Identity, emailKey: string): Promise<boolean> {
  const [before] = await tx.rows<{ key: string | null }>(
    `select email_key as key from identity where issuer = $1 and subject = $2 for no key update`,
    [issuer, subject],
  )
  if (before === undefined || before.key === emailKey) return false
  await tx.rows('update identity set email_key = $3 where issuer = $1 and subject = $2', [issuer, subject, emailKey])
  return before.key !== null
}

/** Returns their issuers. */
export async function deleteIdentities(tx: Queryable, personId: string): Promise<string[]> {
  const rows = await tx.rows<{ issuer: string }>('delete from identity where person_id = $1 returning issuer', [
    personId,
  ])
  return rows.map(({ issuer }) => issuer)
}

/** How many identities each person has, by their id. */
export async function countByPerson(database: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await database.rows<{ id: string; count: number }>(
    'select person_id as id, count(*)::int as count from identity group by 1',
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** The issuer of the deleted identity; undefined if the person has no such identity. */
export async function deleteIdentity(tx: Queryable, personId: string, id: string): Promise<string | undefined> {
  const [row] = await tx.rows<{ issuer: string }>(
    'delete from identity where id = $1 and person_id = $2 returning issuer',
    [id, personId],
  )
  return row?.issuer
}

export function readIdentities(database: Queryable, personId: string): Promise<ListedIdentity[]> {
  return database.rows(
    `select id, issuer, subject, created_at as "createdAt" from identity where person_id = $1
     order by created_at, issuer, subject`,
    [personId],
  )
}

export async function readIssuers(database: Queryable, personId: string): Promise<string[]> {
  const rows = await database.rows<{ issuer: string }>('select distinct issuer from identity where person_id = $1', [
    personId,
  ])
  return rows.map(({ issuer }) => issuer)
}

/** Throws an error that `isIdentityTaken` recognises if another person has the address. */
export async function updateEmail(
  tx: Queryable,
  personId: string,
  { address, key }: { readonly address: string; readonly key: string },
): Promise<void> {
  await tx.rows('update person set email = $2, email_key = $3 where id = $1', [personId, address, key])
}

export const isIdentityTaken = (error: unknown): boolean => codeOf(error) === uniqueViolation
