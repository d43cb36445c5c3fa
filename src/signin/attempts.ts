import { randomBytes } from 'node:crypto'
import type { Database } from '../platform/database/database.ts'
import { hashOf, newSecret, readSecrets, setCookie } from './cookies.ts'
import type { Attempt } from './methods/method.ts'
import * as store from './attempts-store.ts'

/** Seconds that a person has at the provider. */
const lifetime = 1800
/** Cookies of one request that are looked at: browsers that open many tabs at once get several. */
const mostCookies = 16

export interface StartedAttempt extends Attempt {
  /** The Set-Cookie text that ties the attempt to this browser. */
  readonly cookie: string
}

/** An attempt that has come back. */
export interface UsedAttempt extends Attempt {
  readonly provider: string
  readonly returnTo: string
}

/**
 * Sign-ins under way, each for one browser and one callback. What ties them to the browser is a cookie that all its
 * tabs share. Each such cookie has a name of its own: tabs that start at the same moment would otherwise overwrite each
 * other's.
 */
export interface Attempts {
  begin(attempt: { provider: string; returnTo: string; cookies: string | undefined }): Promise<StartedAttempt>
  /** Undefined for a state that is unknown, over, used before, or another browser's; that changes nothing. */
  use(state: string, cookies: string | undefined): Promise<UsedAttempt | undefined>
  /** Where an attempt of this browser was to lead, though it is used. */
  returnOf(state: string, cookies: string | undefined): Promise<string | undefined>
}

interface AttemptNeeds {
  readonly database: Database
  readonly baseUrl: string
  readonly clock: () => number
}

export function createAttempts({ database, baseUrl, clock }: AttemptNeeds): Attempts {
  // A sibling host cannot plant a cookie with this prefix (RFC 6265bis section 4.1.3.2); it needs https.
  const prefix = baseUrl.startsWith('https:') ? '__Host-signin-' : 'signin-'
  const cookiesOf = (header: string | undefined) =>
    readSecrets(header)
      .filter(({ name }) => name.startsWith(prefix))
      .slice(0, mostCookies)
  const browsers = (header: string | undefined) => cookiesOf(header).map(({ value }) => hashOf(value))

  return Object.freeze({
    async begin({ provider, returnTo, cookies }: { provider: string; returnTo: string; cookies: string | undefined }) {
      const [known] = cookiesOf(cookies)
      const { name, value } = known ?? { name: `${prefix}${randomBytes(6).toString('base64url')}`, value: newSecret() }
      const attempt = { state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() }
      await store.insertAttempt(database, {
        ...attempt,
        stateHash: hashOf(attempt.state),
        browserHash: hashOf(value),
        provider,
        returnTo,
        expiresAt: new Date(clock() + lifetime * 1000),
      })
      return { ...attempt, cookie: setCookie(name, value, lifetime) }
    },
    async use(state: string, cookies: string | undefined) {
      const browserHashes = browsers(cookies)
      if (browserHashes.length === 0) return undefined
      const used = await store.useAttempt(database, { stateHash: hashOf(state), browserHashes, now: new Date(clock()) })
      return used && { state, ...used }
    },
    async returnOf(state: string, cookies: string | undefined) {
      return store.readReturn(database, { stateHash: hashOf(state), browserHashes: browsers(cookies) })
    },
  })
}
