import { randomUUIDv7 } from 'node:crypto'
import type { Logger } from 'pino'
import { byService, type Origin, type Visit } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit.ts'
import type { Person } from '../people/people.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { createLookups } from '../platform/database/lookups.ts'
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
  readonly request?: Origin
}

export interface StartedSession {
  readonly id: string
  readonly value: string
}

/** In ms. */
export interface Lifetimes {
  readonly idle: number
  readonly absolute: number
}

/** What begins or ends a session is in the audit log, or did not happen. */
export interface Sessions {
  /**
   * Who sent a request, by its Cookie header; one indexed query. Undefined for nobody: no cookie, none of ours, ended,
   * or of a person who may not be signed in. Throws Problem `unavailable`.
   */
  recognise(this: void, cookies: string | undefined): Promise<Session | undefined>
  /** Begins a session with a new value. Throws Problem `sign_in_refused` when the person may not be signed in. */
  start(session: NewSession): Promise<StartedSession>
  /** Ends the sessions whose cookies these are; they are refused from the next request on. */
  endOf(cookies: string | undefined, request: Origin): Promise<store.EndedSession[]>
  /** Ends sessions by what they have in common; every given condition holds for each of them. */
  end(which: EndWhich, by: Visit): Promise<store.EndedSession[]>
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
  readonly audit: Pick<Audit, 'recordWithin'>
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
        await refuseSeveral(needs, { hashes, people: live.map(({ personId }) => personId) })
        return undefined
      }
      const now = clock()
      lastSeen.note(session, now)
      return toSession(session, now + lifetimes.idle)
    },
    async start(session: NewSession) {
      return database.transaction(async (tx) => {
        const { entries, ...started } = await start(tx, session, { now: clock(), lifetimes })
        await audit.recordWithin(tx, entries)
        return started
      })
    },
    async endOf(cookies: string | undefined, request: Origin) {
      const hashes = hashesOf(cookies)
      if (hashes.length === 0) return []
      return end(needs, { hashes }, (session) => ({ ...request, action: 'sign_out', ...about(session) }))
    },
    end: (which: EndWhich, by: Visit) =>
      end(needs, which, ({ id, personId }) => ({
        action: 'session_revoked',
        ...about({ id, personId }),
        ...by,
        details: { of: personId },
      })),
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

/** An entry of a session that its own person began or ended. */
const about = ({ id, personId }: Pick<store.EndedSession, 'id' | 'personId'>) =>
  ({ actor: { kind: 'person', id: personId }, outcome: 'allowed', noun: 'session', nounId: id }) as const

function end(
  { database, audit }: SessionNeeds,
  which: store.Selection,
  entryOf: (session: store.EndedSession) => AuditEntry,
): Promise<store.EndedSession[]> {
  return database.transaction(async (tx) => {
    const ended = await store.deleteSessions(tx, which)
    await audit.recordWithin(tx, ended.map(entryOf))
    return ended
  })
}

/** Whose cookie is whose cannot be told: neither counts, and both end, so that a planted one cannot lock anybody out. */
async function refuseSeveral(
  needs: SessionNeeds,
  { hashes, people }: { readonly hashes: readonly Buffer[]; readonly people: readonly string[] },
): Promise<void> {
  const details = { why: 'one request had sessions of several people', people: people.join(' ') }
  await end(needs, { hashes }, (session) => ({ action: 'session_ended', ...about(session), ...byService, details }))
}

async function start(
  tx: Queryable,
  session: NewSession,
  { now, lifetimes }: { now: number; lifetimes: Lifetimes },
): Promise<StartedSession & { readonly entries: readonly AuditEntry[] }> {
  const { personId, method, factors, device = '', network = '', provider, request } = session
  const [id, value] = [randomUUIDv7(), newSecret()]
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
  // After the person, as in a change of their role: in the other order each would wait for the other.
  const known = hashesOf(session.replaces)
  const replaced = known.length === 0 ? [] : await store.deleteSessions(tx, { hashes: known })
  const details = { method, factors: factors.join(' ') }
  const why = { why: 'another sign-in in the same browser' }
  const entries = [
    { ...request, action: 'sign_in', ...about({ id, personId }), details },
    ...replaced.map((old) => ({ ...request, action: 'session_ended', ...about(old), details: why })),
  ]
  return { id, value, entries }
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
