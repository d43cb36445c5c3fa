import type { Logger } from 'pino'
import { byService, type RequestOrigin, type Visit } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Person } from '../../people/person.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { createLookups } from '../../platform/database/lookups.ts'
import { isFactorRequired, type SecondFactorPolicy } from '../factor-policy.ts'
import { createLastSeen, type LastSeen } from './last-seen.ts'
import { hashOf, newSecret, noSessionCookie, sessionCookie, sessionHashes } from './cookies.ts'
import { endSessions, type SessionEnd } from './end.ts'
import { byOwner, startSession, type NewSession, type StartedSession } from './start.ts'
import * as store from './store.ts'

export { endUnfinishedSignIns, type EndedSession, type SessionSummary } from './store.ts'

/** Who is signed in, and how. */
export interface Session {
  readonly id: string
  readonly person: Person
  /** The id of the method. */
  readonly method: string
  /** The proofs that the person has given: `provider`, and second factors. */
  readonly factors: readonly string[]
  readonly createdAt: Date
  /** When the person last proved who they are; null if that is unknown. */
  readonly provenAt: Date | null
  /** The absolute limit. */
  readonly endsAt: Date
  /** The idle limit, if the session is not used again. */
  readonly idleEndsAt: Date
}

/** In ms. */
export interface Lifetimes {
  readonly idle: number
  readonly absolute: number
}

/**
 * Every start and end is in the same transaction as its audit row. The end of sessions also ends what their people have not
 * completed: `endSessions` says what.
 */
export interface Sessions {
  /**
   * The session of a Cookie header, with one indexed query. Undefined without a cookie, or if its session does not
   * exist, has ended, or belongs to a person who may not sign in. Throws Problem `unavailable`.
   */
  recognise(this: void, cookies: string | undefined): Promise<Session | undefined>
  /** Starts a session with a new value. Throws Problem `sign_in_refused` if the person may not sign in. */
  start(session: NewSession): Promise<StartedSession>
  /** After a new proof by its person, gives a session a new value; the old one ends at once. Undefined if the session has ended. */
  renew(this: void, tx: Queryable, id: string): Promise<string | undefined>
  /** Ends the sessions of a Cookie header, from the next request on. */
  endOf(cookies: string | undefined, request: RequestOrigin): Promise<store.EndedSession[]>
  /** Ends one or all sessions of a person. */
  end(which: EndWhich, by: Visit): Promise<store.EndedSession[]>
  /** Ends all sessions of everyone. */
  endAll(by: Visit): Promise<store.EndedSession[]>
  /** Ends the sessions of a person within the transaction of a change to how they sign in; all but one, if it is given. */
  endWithin(tx: Queryable, which: EndOthers, by: Visit): Promise<store.EndedSession[]>
  /** The live sessions of a person, most recently used first. */
  list(personId: string, within?: Queryable): Promise<store.SessionSummary[]>
  /** The Set-Cookie text that gives a browser its session. */
  cookie(value: string): string
  /** The Set-Cookie text that removes it. */
  readonly noCookie: string
  /** Writes what is queued. */
  close(): Promise<void>
}

/** All sessions of a person, or the one with this id. */
export interface EndWhich {
  readonly personId: string
  readonly id?: string
}

export interface EndOthers {
  readonly personId: string
  /** The id of the session that stays. */
  readonly exceptId?: string | undefined
}

interface SessionNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly log: Logger
  readonly lifetimes: Lifetimes
  /** Sessions without a second factor that it requires are not recognised: they began under another policy. Default `off`. */
  readonly secondFactor?: SecondFactorPolicy
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

const minute = 60_000

/** Sessions as rows (section 3 of the specification), with an idle and an absolute limit by this process's clock. */
export function createSessions(needs: SessionNeeds): Sessions {
  const { database, audit, log, lifetimes, clock = Date.now } = needs
  const every = Math.min(minute, lifetimes.idle / 4)
  const lastSeen = createLastSeen({ database, log, clock, every })
  const recognise = createRecognition(needs, lastSeen)

  return Object.freeze<Sessions>({
    recognise,
    async start(session) {
      return database.transaction(async (tx) => {
        const { started, entries } = await startSession(tx, session, { now: clock(), absolute: lifetimes.absolute })
        await audit.recordWithin(tx, entries)
        return started
      })
    },
    async renew(tx, id) {
      const value = newSecret()
      return (await store.renewSession(tx, { id, hash: hashOf(value), at: new Date(clock()) })) ? value : undefined
    },
    async endOf(cookies, request) {
      const hashes = sessionHashes(cookies)
      if (hashes.length === 0) return []
      return end(needs, { hashes }, (session) => ({ ...request, action: 'sign_out', ...byOwner(session) }))
    },
    end: (which, by) => end(needs, which, revokedBy(by)),
    endAll: (by) => end(needs, {}, revokedBy(by)),
    endWithin: (tx, which, by) => endSessions(tx, audit, { which, entryOf: revokedBy(by) }),
    async list(personId: string, within: Queryable = database) {
      const now = clock()
      const alive = { endsAfter: new Date(now), seenAfter: new Date(now - lifetimes.idle) }
      return store.readSessionsOf(within, personId, alive)
    },
    cookie: sessionCookie,
    noCookie: noSessionCookie,
    close: () => lastSeen.close(),
  })
}

function createRecognition(needs: SessionNeeds, lastSeen: LastSeen): Sessions['recognise'] {
  const { database, lifetimes, secondFactor = 'off', clock = Date.now } = needs
  // Concurrent requests share a query, which starts after the last of them arrived.
  const lookUp = createLookups(async (hashes) => {
    const found = await store.readSessions(
      database,
      hashes.map((hash) => Buffer.from(hash, 'hex')),
    )
    return new Map(found.map((session) => [session.hash.toString('hex'), session]))
  })
  const isLive = (session: store.LiveSession, now: number) =>
    now < session.endsAt.getTime() &&
    now < lastSeen.of(session) + lifetimes.idle &&
    (session.factors.length > 1 || !isFactorRequired(secondFactor, session.role))

  return async (cookies) => {
    const hashes = sessionHashes(cookies)
    if (hashes.length === 0) return undefined
    const found = await Promise.all(hashes.map((hash) => lookUp(hash.toString('hex'))))
    const now = clock()
    const [session, ...others] = found.filter((each) => each !== undefined).filter((each) => isLive(each, now))
    if (session === undefined) return undefined
    if (others.some(({ personId }) => personId !== session.personId)) {
      await endConflicting(needs, { hashes, people: [session, ...others].map(({ personId }) => personId) })
      return undefined
    }
    lastSeen.note(session, now)
    return toSession(session, now + lifetimes.idle)
  }
}

type EntryOf = SessionEnd['entryOf']

const revokedBy =
  (by: Visit): EntryOf =>
  ({ id, personId }) => ({
    action: 'session_revoked',
    ...byOwner({ id, personId }),
    ...by,
    details: { of: personId },
  })

function end(
  { database, audit }: SessionNeeds,
  which: store.Selection,
  entryOf: EntryOf,
): Promise<store.EndedSession[]> {
  return database.transaction((tx) => endSessions(tx, audit, { which, entryOf }))
}

/** Which cookie is the planted one is unknown: both sessions end, so that planting one cannot lock a person out. */
async function endConflicting(
  needs: SessionNeeds,
  { hashes, people }: { readonly hashes: readonly Buffer[]; readonly people: readonly string[] },
): Promise<void> {
  const details = { why: 'one request had sessions of several people', people: people.join(' ') }
  await end(needs, { hashes }, (session) => ({ action: 'session_ended', ...byOwner(session), ...byService, details }))
}

function toSession(session: store.LiveSession, idleEnd: number): Session {
  const { id, personId, name, email, role, method, factors, createdAt, provenAt, endsAt } = session
  return Object.freeze({
    id,
    person: Object.freeze({ id: personId, name, email, role }),
    method,
    factors,
    createdAt,
    provenAt,
    endsAt,
    idleEndsAt: new Date(Math.min(idleEnd, endsAt.getTime())),
  })
}
