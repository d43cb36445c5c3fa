import { randomBytes } from 'node:crypto'
import type { Database, Queryable } from '../platform/database/database.ts'
import { createTurnstile } from '../platform/turnstile.ts'
import { hashOf, newSecret, readSecrets, setCookie } from './cookies.ts'
import { lockActivePerson } from './locked-person-store.ts'
import type { AttemptData } from './methods/method.ts'
import * as store from './attempts-store.ts'

/** How long a person may take at the provider, or for a second factor, in seconds. */
const lifetime = 1800
/** Sign-in cookies considered per request: a browser that opens many tabs at once gets several. */
const maxCookies = 16
/**
 * Submissions are counted one at a time, with a pause in ms if another one waits. Otherwise, hundreds of simultaneous
 * wrong passwords would occupy the connections and processors of the database, and everyone's reads would wait.
 */
const tries = { atOnce: 1, pause: 5 }
/** Submissions per step. */
export const maxTries = 5

export type { BegunRow as BegunAttempt, ProvenRow as ProvenAttempt, Tried } from './attempts-store.ts'

interface NewAttempt {
  readonly state: string
  readonly method: string
  readonly data: AttemptData
  readonly returnTo: string
  /** The person who is to get the identity, instead of a sign-in. */
  readonly linksTo?: string | undefined
  /** The Cookie header of the request. */
  readonly cookies: string | undefined
}

interface ProvenBy {
  readonly personId: string
  readonly proof: Buffer
  /** The provider's name for its session. */
  readonly providerSid: string | undefined
  /** Runs in the transaction, with the person's row locked. Throws Problem if the proof no longer holds. */
  readonly confirm: (tx: Queryable) => Promise<void>
}

/** Why a `state` cannot be used. */
export type UnusableReason = 'unknown_state' | 'foreign_state' | 'no_cookie' | 'used_state' | 'expired_state'

export interface UnusableState {
  readonly why: UnusableReason
  readonly method?: string
  /** Where the attempt was to lead, if it belongs to this browser. */
  readonly returnTo?: string
}

/**
 * Sign-in attempts, each bound to one browser by a cookie that all tabs of the browser share. Each such cookie has its
 * own name; otherwise tabs that start at the same moment would overwrite each other's.
 */
export interface Attempts {
  /** Returns the Set-Cookie text that binds the attempt to the browser. */
  begin(attempt: NewAttempt): Promise<string>
  /** Uses up an attempt. Undefined for a state that is unknown, expired, used, or of another browser. */
  use(state: string, cookies: string | undefined): Promise<store.BegunRow | undefined>
  /** Whether an attempt that can be used belongs to this browser. */
  isOwn(stateHash: Buffer, cookies: string | undefined): Promise<boolean>
  /** Uses an attempt of any browser up and gives it to this one, with the Set-Cookie text. Undefined as in `use`. */
  claim(
    stateHash: Buffer,
    cookies: string | undefined,
  ): Promise<{ readonly attempt: store.BegunRow; readonly cookie: string } | undefined>
  /** Counts a submission without using up the attempt; undefined also if no tries are left. */
  try(state: string, cookies: string | undefined): Promise<store.Tried<store.BegunRow> | undefined>
  /** Uses up an attempt that was tried. False if another request was faster. */
  finish(attempt: store.BegunRow, step: 'begun' | 'proven', within?: Queryable): Promise<boolean>
  /** Lets a used attempt wait for a second factor. No session exists yet. */
  prove(attempt: store.BegunRow, by: ProvenBy): Promise<void>
  /** This browser's attempt that waits for a second factor. */
  proven(cookies: string | undefined): Promise<store.ProvenRow | undefined>
  beginFactor(attempt: store.ProvenRow, begun: store.BegunStep): Promise<void>
  /** Counts a submission for the second factor; undefined if no tries are left. */
  tryProven(attempt: store.ProvenRow): Promise<store.Tried<store.ProvenRow> | undefined>
  /** Deletes this browser's attempts that wait for a second factor. */
  abandon(cookies: string | undefined): Promise<void>
  /** Why a state could not be used. */
  explain(state: string, cookies: string | undefined): Promise<UnusableState>
}

interface AttemptNeeds {
  readonly database: Database
  readonly baseUrl: string
  readonly clock: () => number
}

export function createAttempts({ database, baseUrl, clock }: AttemptNeeds): Attempts {
  // A sibling host cannot set a cookie with this prefix (RFC 6265bis section 4.1.3.2). It requires https.
  const prefix = baseUrl.startsWith('https:') ? '__Host-signin-' : 'signin-'
  const cookiesOf = (header: string | undefined) =>
    readSecrets(header)
      .filter(({ name }) => name.startsWith(prefix))
      .slice(0, maxCookies)
  const browsers = (header: string | undefined) => cookiesOf(header).map(({ value }) => hashOf(value))
  const keyOf = (state: string, cookies: string | undefined) => ({
    stateHash: hashOf(state),
    browserHashes: browsers(cookies),
    now: new Date(clock()),
  })
  const cookieFor = (header: string | undefined) =>
    cookiesOf(header)[0] ?? { name: `${prefix}${randomBytes(6).toString('base64url')}`, value: newSecret() }
  const turnstile = createTurnstile(tries.atOnce, tries)
  const expiry = () => new Date(clock() + lifetime * 1000)

  return Object.freeze({
    async begin({ state, cookies, linksTo, ...attempt }: NewAttempt) {
      const { name, value } = cookieFor(cookies)
      const hashes = { stateHash: hashOf(state), browserHash: hashOf(value) }
      await store.insertAttempt(database, { ...attempt, ...hashes, linksTo: linksTo ?? null, expiresAt: expiry() })
      return setCookie(name, value, lifetime)
    },
    use: (state: string, cookies: string | undefined) => store.takeBegun(database, keyOf(state, cookies)),
    isOwn: (stateHash: Buffer, cookies: string | undefined) =>
      store.isBegunBy(database, { stateHash, browserHashes: browsers(cookies), now: new Date(clock()) }),
    async claim(stateHash: Buffer, cookies: string | undefined) {
      const { name, value } = cookieFor(cookies)
      const attempt = await store.claimBegun(database, stateHash, hashOf(value), new Date(clock()))
      return attempt && { attempt, cookie: setCookie(name, value, lifetime) }
    },
    try: (state: string, cookies: string | undefined) =>
      turnstile.run(() => store.tryBegun(database, keyOf(state, cookies), maxTries)),
    finish: ({ stateHash }: store.BegunRow, step: 'begun' | 'proven', within: Queryable = database) =>
      store.useAttempt(within, stateHash, step),
    prove: ({ stateHash }: store.BegunRow, { confirm, ...proven }: ProvenBy) =>
      database.transaction(async (tx) => {
        await lockActivePerson(tx, proven.personId)
        await confirm(tx)
        await store.proveAttempt(tx, { ...proven, stateHash, expiresAt: expiry() })
      }),
    async proven(cookies: string | undefined) {
      const browserHashes = browsers(cookies)
      if (browserHashes.length === 0) return undefined
      return store.readProven(database, { browserHashes, now: new Date(clock()) })
    },
    beginFactor: ({ stateHash }: store.ProvenRow, begun: store.BegunStep) =>
      store.beginFactor(database, stateHash, begun),
    tryProven: ({ stateHash }: store.ProvenRow) => store.tryProven(database, stateHash, maxTries),
    async abandon(cookies: string | undefined) {
      const browserHashes = browsers(cookies)
      if (browserHashes.length > 0) await store.deleteProven(database, browserHashes)
    },
    async explain(state: string, cookies: string | undefined) {
      const found = await store.readAttempt(database, keyOf(state, cookies))
      if (found === undefined) return { why: 'unknown_state' }
      const { method, step, isOwn, isExpired, returnTo } = found
      if (!isOwn) return { why: cookiesOf(cookies).length === 0 ? 'no_cookie' : 'foreign_state', method }
      return { why: step === 'begun' && isExpired ? 'expired_state' : 'used_state', method, returnTo }
    },
  } satisfies Attempts)
}
