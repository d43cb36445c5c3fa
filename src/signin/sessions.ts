import { randomUUIDv7 } from 'node:crypto'
import type { Logger } from 'pino'
import type { Audit } from '../access/audit.ts'
import type { Person } from '../people/people.ts'
import type { Database, Queryable } from '../platform/database.ts'
import { createLookups } from '../platform/lookups.ts'
import { Problem } from '../platform/problems.ts'
import { hashOf, newSecret, readSecrets, setCookie } from './cookies.ts'
import { createLastSeen, type LastSeen } from './last-seen.ts'
import * as store from './store.ts'

export type { EndedSession, SessionSummary } from './store.ts'

/** Who is signed in, and how. */
export interface Session {
  readonly id: string
  readonly person: Person
  /** How they signed in: the id of a provider. */
  readonly method: string
  /** What they have shown: `provider`, and second factors. */
  readonly factors: readonly string[]
  readonly createdAt: Date
  /** When it ends however much it is used. */
  readonly endsAt: Date
  /** When it ends if it is not used again. */
  readonly idleEndsAt: Date
}

/** A sign-in that is complete. */
export interface NewSession {
  readonly personId: string
  readonly method: string
  readonly factors: readonly string[]
  /** What the person's browser is, in few words. */
  readonly device?: string
  /** The network that the person came from. */
  readonly network?: string
  readonly provider?: store.ProviderSession
  /** The Cookie header of the request: the session that the browser had until now ends. */
  readonly replaces?: string | undefined
}

export interface StartedSession {
  readonly id: string
  readonly value: string
  /** Those that it took the place of. */
  readonly replaced: readonly store.EndedSession[]
}

/** In ms. */
export interface Lifetimes {
  readonly idle: number
  readonly absolute: number
}

export interface Sessions {
  /**
   * Who sent a request, by its Cookie header; one indexed query. Undefined for nobody: no cookie, none of ours, ended,
   * or of a person who may not be signed in. Throws Problem `unavailable`.
   */
  recognise(this: void, cookies: string | undefined): Promise<Session | undefined>
  /** Begins a session with a new value. Throws Problem `sign_in_refused` when the person may not be signed in. */
  start(session: NewSession): Promise<StartedSession>
  /** Ends the sessions whose cookies these are; they are refused from the next request on. */
  endOf(cookies: string | undefined): Promise<store.EndedSession[]>
  /** Ends sessions by what they have in common; every given condition holds for each of them. */
  end(which: EndWhich): Promise<store.EndedSession[]>
  /** The sessions that a person has now, the last used first. */
  list(personId: string): Promise<store.SessionSummary[]>
  /** The Set-Cookie text that gives a browser its session. */
  cookie(value: string): string
  /** The Set-Cookie text that takes it away. */
  readonly noCookie: string
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/** A person's, or one of them. */
export interface EndWhich {
  readonly personId: string
  readonly id?: string
}

interface SessionNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
  readonly log: Logger
  readonly lifetimes: Lifetimes
  /** ms since 1970; `Date.now` unless told. */
  readonly clock?: () => number
}

const name = 'session'
/** Cookies of this name in one request that are looked up: a sibling host can plant some, but not push ours out. */
const mostCookies = 4
const minute = 60_000

/**
 * Sessions in the cookie `session` (sections 2.5 and 3 of the specification): 256 random bits, of which only the
 * SHA-256 is kept, with an idle and an absolute limit by this clock.
 */
export function createSessions(needs: SessionNeeds): Sessions {
  const { database, audit, log, lifetimes, clock = Date.now } = needs
  const every = Math.min(minute, lifetimes.idle / 4)
  const lastSeen = createLastSeen({ database, log, clock, every })
  // Those of many requests with one query, which begins after each of them has come.
  const lookUp = createLookups(async (hashes) => {
    const found = await store.readSessions(
      database,
      hashes.map((hash) => Buffer.from(hash, 'hex')),
    )
    return new Map(found.map((session) => [session.hash.toString('hex'), session]))
  })

  return Object.freeze({
    async recognise(cookies: string | undefined) {
      const hashes = hashesOf(cookies)
      if (hashes.length === 0) return undefined
      const looked = await Promise.all(hashes.map((hash) => lookUp(hash.toString('hex'))))
      const found = looked.filter((session) => session !== undefined)
      const live = found.filter((session) => isLive(session, { lastSeen, lifetimes, now: clock() }))
      const [session, ...others] = live
      if (session === undefined) return undefined
      if (others.some(({ personId }) => personId !== session.personId)) {
        await refuseSeveral({ database, audit, hashes, people: live.map(({ personId }) => personId) })
        return undefined
      }
      const now = clock()
      lastSeen.note(session, now)
      return toSession(session, now + lifetimes.idle)
    },
    async start(session: NewSession) {
      return database.transaction((tx) => start(tx, session, { now: clock(), lifetimes }))
    },
    async endOf(cookies: string | undefined) {
      const hashes = hashesOf(cookies)
      return hashes.length === 0 ? [] : store.deleteSessions(database, { hashes })
    },
    end: (which: EndWhich) => store.deleteSessions(database, which),
    async list(personId: string) {
      const now = clock()
      const alive = { endsAfter: new Date(now), seenAfter: new Date(now - lifetimes.idle) }
      return store.readSessionsOf(database, personId, alive)
    },
    cookie: (value: string) => setCookie(name, value),
    noCookie: setCookie(name, '', 0),
    close: () => lastSeen.close(),
  })
}

function hashesOf(cookies: string | undefined): Buffer[] {
  const values = readSecrets(cookies).flatMap((cookie) => (cookie.name === name ? [cookie.value] : []))
  // Browsers send the cookies with the longest paths first, and ours has the shortest.
  return [...new Set(values)].slice(-mostCookies).map(hashOf)
}

function isLive(
  session: store.LiveSession,
  { lastSeen, lifetimes, now }: { lastSeen: LastSeen; lifetimes: Lifetimes; now: number },
): boolean {
  return now < session.endsAt.getTime() && now < lastSeen.of(session) + lifetimes.idle
}

/** Whose cookie is whose cannot be told: neither counts, and both end, so that a planted one cannot lock anybody out. */
async function refuseSeveral(needs: {
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
  readonly hashes: readonly Buffer[]
  readonly people: readonly string[]
}): Promise<void> {
  const ended = await store.deleteSessions(needs.database, { hashes: needs.hashes })
  for (const { id, personId } of ended) {
    await needs.audit.record({
      action: 'session_ended',
      outcome: 'allowed',
      personId,
      noun: 'session',
      nounId: id,
      details: { why: 'one request had sessions of several people', people: needs.people.join(' ') },
    })
  }
}

async function start(
  tx: Queryable,
  session: NewSession,
  { now, lifetimes }: { now: number; lifetimes: Lifetimes },
): Promise<StartedSession> {
  const { personId, method, factors, device = '', network = '', provider } = session
  const [id, value] = [randomUUIDv7(), newSecret()]
  const known = hashesOf(session.replaces)
  const replaced = known.length === 0 ? [] : await store.deleteSessions(tx, { hashes: known })
  const begun = await store.insertSession(tx, {
    hash: hashOf(value),
    id,
    personId,
    method,
    factors,
    device,
    network,
    at: new Date(now),
    endsAt: new Date(now + lifetimes.absolute),
    provider,
  })
  if (!begun) throw new Problem('sign_in_refused', 'This person may not sign in here. Ask a partner of the firm.')
  return { id, value, replaced }
}

function toSession(session: store.LiveSession, idleEnd: number): Session {
  const { id, personId, name: personName, email, role, method, factors, createdAt, endsAt } = session
  return Object.freeze({
    id,
    person: Object.freeze({ id: personId, name: personName, email, role }),
    method,
    factors,
    createdAt,
    endsAt,
    idleEndsAt: new Date(Math.min(idleEnd, endsAt.getTime())),
  })
}
