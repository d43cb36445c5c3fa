import { randomBytes } from 'node:crypto'
import type { Database, Queryable } from '../../platform/database/database.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { createTurnstile } from '../../platform/flow/turnstile.ts'
import { hashOf, newSecret, readSecrets, setCookie } from '../session/cookies.ts'
import { isBound, macOf, macsOf, maxTries } from './binding.ts'
import { lockActivePerson } from './locked-person-store.ts'
import type { AttemptData } from '../methods/method.ts'
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

export type { BegunRow as BegunAttempt, ProvenRow as ProvenAttempt, TriedAttempt } from './attempts-store.ts'

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
  /** The Cookie header of the request. */
  readonly cookies: string | undefined
  readonly personId: string
  /** Makes the encrypted proof for the browser that gets the new cookie. */
  readonly proofFor: (browserHash: Buffer) => Buffer
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
 * own name; otherwise tabs that start at the same moment would overwrite each other's. The first proof moves an attempt to
 * another cookie with a new value: a value that existed before a proof carries no rights after it. A row that something else wrote
 * or changed is like one that does not exist.
 */
export interface Attempts {
  /** Returns the Set-Cookie text that binds the attempt to the browser. */
  begin(attempt: NewAttempt): Promise<string>
  /** Uses up an attempt. Undefined for a state that is unknown, expired, used, or of another browser. */
  use(state: string, cookies: string | undefined): Promise<store.BegunRow | undefined>
  /** Whether an attempt that can be used belongs to this browser. */
  isOwn(stateHash: Buffer, cookies: string | undefined): Promise<boolean>
  /** Hashes of the cookies that bind attempts to this browser. */
  browsersOf(cookies: string | undefined): Buffer[]
  /** Uses up an attempt of any browser. Undefined as in `use`. */
  claim(stateHash: Buffer): Promise<store.BegunRow | undefined>
  /** Counts a submission without using up the attempt; undefined also if no tries are left. */
  try(state: string, cookies: string | undefined): Promise<store.TriedAttempt<store.BegunRow> | undefined>
  /** Uses up an attempt that was tried. False if another request was faster. */
  finish(attempt: store.BegunRow, step: 'begun' | 'proven', within?: Queryable): Promise<boolean>
  /**
   * Lets a used attempt wait for a second factor, in place of the browser's previous one. No session exists yet. Returns the
   * Set-Cookie text of the only value that finds it.
   */
  prove(attempt: store.BegunRow, by: ProvenBy): Promise<string>
  /** This browser's attempt that waits for a second factor. */
  proven(cookies: string | undefined): Promise<store.ProvenRow | undefined>
  beginFactor(attempt: store.ProvenRow, begun: store.BegunStep): Promise<void>
  /** Counts a submission for the second factor; undefined if no tries are left. */
  tryProven(attempt: store.ProvenRow): Promise<store.TriedAttempt<store.ProvenRow> | undefined>
  /** Deletes this browser's attempts that wait for a second factor. */
  abandon(cookies: string | undefined): Promise<void>
  /** Why a state could not be used. */
  explain(state: string, cookies: string | undefined): Promise<UnusableState>
}

interface AttemptNeeds {
  readonly database: Database
  readonly encryption: Encryption
  readonly baseUrl: string
  readonly clock: () => number
}

/** A row before its first proof, and before a second factor was begun. */
const initial = { personId: null, providerSid: null, factor: null, enrols: false }

export function createAttempts({ database, encryption, baseUrl, clock }: AttemptNeeds): Attempts {
  // A sibling host cannot set a cookie with this prefix (RFC 6265bis section 4.1.3.2). It requires https.
  const host = baseUrl.startsWith('https:') ? '__Host-' : ''
  const prefix = `${host}signin-`
  const provenName = `${host}factor`
  const begunCookies = (header: string | undefined) => cookiesOf(header, (name) => name.startsWith(prefix))
  const browsers = (header: string | undefined) => begunCookies(header).map(({ value }) => hashOf(value))
  const provenBrowsers = (header: string | undefined) =>
    cookiesOf(header, (name) => name === provenName).map(({ value }) => hashOf(value))
  const keyOf = (state: string, cookies: string | undefined) => ({
    stateHash: hashOf(state),
    browserHashes: browsers(cookies),
    now: new Date(clock()),
  })
  const cookieFor = (header: string | undefined) =>
    begunCookies(header)[0] ?? { name: `${prefix}${randomBytes(6).toString('base64url')}`, value: newSecret() }
  const turnstile = createTurnstile(tries.atOnce, tries)
  const expiry = () => new Date(clock() + lifetime * 1000)
  const bound = <Row extends store.AttemptRow>(row: Row | undefined) =>
    row !== undefined && isBound(encryption, row) ? row : undefined

  return Object.freeze<Attempts>({
    async begin({ state, cookies, linksTo, ...attempt }) {
      const { name, value } = cookieFor(cookies)
      const hashes = { stateHash: hashOf(state), browserHash: hashOf(value) }
      const row = { ...attempt, ...hashes, linksTo: linksTo ?? null, expiresAt: expiry() }
      await store.insertAttempt(database, { ...row, mac: macOf(encryption, { ...initial, ...row }) })
      return setCookie(name, value, lifetime)
    },
    use: async (state, cookies) => bound(await store.takeBegun(database, keyOf(state, cookies))),
    isOwn: (stateHash, cookies) =>
      store.isBegunBy(database, { stateHash, browserHashes: browsers(cookies), now: new Date(clock()) }),
    browsersOf: browsers,
    claim: async (stateHash) => bound(await store.claimBegun(database, stateHash, new Date(clock()))),
    try: async (state, cookies) =>
      bound(await turnstile.run(() => store.tryBegun(database, keyOf(state, cookies), maxTries))),
    finish: ({ stateHash }: store.BegunRow, step: 'begun' | 'proven', within: Queryable = database) =>
      store.useAttempt(within, stateHash, step),
    async prove(attempt, { cookies, confirm, proofFor, personId, providerSid = null }) {
      const value = newSecret()
      const browserHash = hashOf(value)
      const row = { ...attempt, ...initial, personId, providerSid, browserHash, expiresAt: expiry(), data: {} }
      const sealed = { proof: proofFor(browserHash), mac: macOf(encryption, row) }
      await database.transaction(async (tx) => {
        await lockActivePerson(tx, personId)
        await confirm(tx)
        await store.deleteProven(tx, provenBrowsers(cookies))
        await store.proveAttempt(tx, { ...row, ...sealed })
      })
      return setCookie(provenName, value, lifetime)
    },
    async proven(cookies) {
      const browserHashes = provenBrowsers(cookies)
      if (browserHashes.length === 0) return undefined
      return bound(await store.readProven(database, { browserHashes, now: new Date(clock()) }))
    },
    beginFactor(attempt, begun) {
      const macs = macsOf(encryption, { ...attempt, ...begun })
      return store.beginFactor(database, attempt.stateHash, { ...begun, macs })
    },
    tryProven: async ({ stateHash }) => bound(await store.tryProven(database, stateHash, maxTries)),
    async abandon(cookies) {
      const browserHashes = provenBrowsers(cookies)
      if (browserHashes.length > 0) await store.deleteProven(database, browserHashes)
    },
    async explain(state, cookies) {
      const found = await store.readAttempt(database, keyOf(state, cookies))
      if (found === undefined) return { why: 'unknown_state' }
      const { method, step, isOwn, isExpired, returnTo } = found
      if (!isOwn) return { why: begunCookies(cookies).length === 0 ? 'no_cookie' : 'foreign_state', method }
      return { why: step === 'begun' && isExpired ? 'expired_state' : 'used_state', method, returnTo }
    },
  })
}

function cookiesOf(header: string | undefined, isOurs: (name: string) => boolean) {
  return readSecrets(header)
    .filter(({ name }) => isOurs(name))
    .slice(0, maxCookies)
}
