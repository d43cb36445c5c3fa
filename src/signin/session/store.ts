import type { Role } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'

/** A session whose person may sign in. */
export interface LiveSession {
  readonly hash: Buffer
  readonly id: string
  readonly method: string
  readonly factors: readonly string[]
  readonly createdAt: Date
  readonly provenAt: Date | null
  readonly lastSeenAt: Date
  readonly endsAt: Date
  readonly personId: string
  readonly name: string
  readonly email: string | null
  readonly role: Role
}

export function readSessions(database: Queryable, hashes: readonly Buffer[]): Promise<LiveSession[]> {
  return database.rows({
    name: 'sessions_by_hash',
    text: `select s.hash, s.id, s.method, s.factors, s.created_at as "createdAt", s.proven_at as "provenAt",
             s.last_seen_at as "lastSeenAt", s.ends_at as "endsAt", p.id as "personId", p.name, p.email, p.role
           from session s join person p on p.id = s.person_id and p.status = 'active'
           where s.hash = any($1)`,
    values: [hashes],
  })
}

export interface NewSession {
  readonly hash: Buffer
  readonly id: string
  readonly personId: string
  readonly method: string
  readonly factors: readonly string[]
  readonly device: string
  readonly network: string
  readonly at: Date
  readonly provenAt: Date | null
  readonly endsAt: Date
  readonly provider: ProviderSession | undefined
}

/** The provider of a sign-in: its id in the configuration, and its own names for the person and the session. */
export interface ProviderSession {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  readonly sid: string | undefined
  /** Encrypted. */
  readonly idToken: Buffer
}

/** False if the person is not active. Serialised with changes of their status or role. */
export async function insertSession(tx: Queryable, session: NewSession): Promise<boolean> {
  const rows = await tx.rows(
    `with p as (update person set last_signed_in_at = $8 where id = $3 and status = 'active' returning id)
     insert into session (hash, id, person_id, method, factors, device, network, created_at, last_seen_at, ends_at,
       provider, issuer, subject, provider_sid, id_token, proven_at)
     select $1, $2, p.id, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15 from p returning 1`,
    [
      session.hash,
      session.id,
      session.personId,
      session.method,
      session.factors,
      session.device,
      session.network,
      session.at,
      session.endsAt,
      session.provider?.id ?? null,
      session.provider?.issuer ?? null,
      session.provider?.subject ?? null,
      session.provider?.sid ?? null,
      session.provider?.idToken ?? null,
      session.provenAt,
    ],
  )
  return rows.length > 0
}

/** Gives a session a new value when its person has proved who they are. False if it has ended. */
export async function renewSession(
  tx: Queryable,
  { id, hash, at }: { readonly id: string; readonly hash: Buffer; readonly at: Date },
): Promise<boolean> {
  const rows = await tx.rows('update session set hash = $2, proven_at = $3 where id = $1 returning 1', [id, hash, at])
  return rows.length > 0
}

/** A session that has just been deleted. */
export interface EndedSession {
  readonly id: string
  readonly personId: string
  readonly provider: string | null
  /** Encrypted. */
  readonly idToken: Buffer | null
}

/**
 * All given conditions must hold. With a subject and a `sid`, a session whose `sid` is unknown matches as well, because it may be
 * the one that ended.
 */
export interface Selection {
  readonly hashes?: readonly Buffer[]
  readonly id?: string
  readonly personId?: string
  readonly issuer?: string
  readonly subject?: string | undefined
  readonly sid?: string | undefined
  /** All but the one with this id. */
  readonly exceptId?: string | undefined
}

const selected = `($1::bytea[] is null or hash = any($1)) and ($2::uuid is null or id = $2)
  and ($3::uuid is null or person_id = $3) and ($4::text is null or issuer = $4)
  and ($5::text is null or subject = $5)
  and ($6::text is null or provider_sid = $6 or ($5 is not null and provider_sid is null))
  and ($7::uuid is null or id <> $7)`

const valuesOf = ({ hashes, id, personId, issuer, subject, sid, exceptId }: Selection) =>
  [hashes, id, personId, issuer, subject, sid, exceptId].map((value) => value ?? null)

export function deleteSessions(database: Queryable, which: Selection): Promise<EndedSession[]> {
  return database.rows(
    `delete from session where ${selected} returning id, person_id as "personId", provider, id_token as "idToken"`,
    valuesOf(which),
  )
}

/** The addresses at which calendar programs read the tasks of these people. Null: of everyone. */
export async function deleteCalendarFeeds(tx: Queryable, people: readonly string[] | null): Promise<void> {
  await tx.rows('delete from calendar_feed where $1::uuid[] is null or person_id = any($1)', [people])
}

/** The people whose sessions these are. */
export async function readPeopleOf(database: Queryable, which: Selection): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    `select distinct person_id as id from session where ${selected}`,
    valuesOf(which),
  )
  return rows.map(({ id }) => id)
}

/** Sign-ins that wait for a second factor, factors and providers that are being added, mailed links. `null`: of everyone. */
export async function endUnfinishedSignIns(tx: Queryable, people: readonly string[] | null): Promise<void> {
  await tx.rows('select end_unfinished_sign_ins($1)', [people])
}

/** A session as its person's own list shows it. */
export interface SessionSummary {
  readonly id: string
  readonly method: string
  readonly factors: readonly string[]
  readonly device: string
  readonly network: string
  readonly createdAt: Date
  readonly lastSeenAt: Date
}

/** Most recently used first. */
export function readSessionsOf(
  database: Queryable,
  personId: string,
  alive: { readonly endsAfter: Date; readonly seenAfter: Date },
): Promise<SessionSummary[]> {
  return database.rows(
    `select id, method, factors, device, network, created_at as "createdAt", last_seen_at as "lastSeenAt"
     from session where person_id = $1 and ends_at > $2 and last_seen_at > $3 order by last_seen_at desc, id desc`,
    [personId, alive.endsAfter, alive.seenAfter],
  )
}

/**
 * Never moves a time back, because other instances write the same rows. Skips rows that are locked: waiting while holding
 * others could deadlock. Returns the ids of skipped rows.
 */
export async function writeLastSeen(
  database: Queryable,
  seen: { readonly ids: readonly string[]; readonly at: readonly Date[] },
): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    `with free as (select id from session where id = any($1::uuid[]) for no key update skip locked),
       written as (
         update session set last_seen_at = seen.at
         from free join unnest($1::uuid[], $2::timestamptz[]) as seen(id, at) on seen.id = free.id
         where session.id = free.id and session.last_seen_at < seen.at)
     select id from session where id = any($1::uuid[]) and id not in (select id from free)`,
    [seen.ids, seen.at],
  )
  return rows.map(({ id }) => id)
}
