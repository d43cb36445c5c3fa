import type { Mailer } from '../../mail/mailer.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { hashOf, newSecret, readSecrets, setCookie } from '../session/cookies.ts'
import * as store from './store.ts'
import type { Visitor } from './visitor.ts'

/**
 * The browsers in which people have signed in. Each person has a cookie of their own in a browser, so that people who share one do not
 * take it from each other. It confers no rights: it only decides whether the person gets a mail.
 */
export interface KnownBrowsers {
  /**
   * In the transaction of a sign-in. Returns the Set-Cookie text by which the browser is known for the next 400 days, and queues a mail to
   * the person if it was not known. The first browser of a person causes no mail.
   */
  welcome(this: void, tx: Queryable, personId: string, visitor: SeenVisitor): Promise<string>
}

type SeenVisitor = Pick<Visitor, 'cookies' | 'device' | 'network'>

interface Needs {
  readonly baseUrl: string
  /** Undefined if no mail is configured. */
  readonly mailer: Mailer | undefined
  /** The time zone of the times in mails. */
  readonly timeZone: string
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
}

/** In seconds: the longest that browsers keep a cookie. */
const memory = 400 * 86_400
/** Cookies of this name looked up: a sibling host can plant some, but cannot push ours out. */
const maxCookies = 4

export function createKnownBrowsers({ baseUrl, mailer, timeZone, clock = Date.now }: Needs): KnownBrowsers {
  // A sibling host cannot set a cookie with this prefix. It requires https.
  const prefix = baseUrl.startsWith('https:') ? '__Host-' : ''
  const nameFor = (personId: string) => `${prefix}browser-${hashOf(personId).toString('base64url').slice(0, 8)}`
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone })

  async function report(tx: Queryable, to: string, { device, network }: SeenVisitor, now: Date) {
    const at = `${format.format(now)} (${timeZone})`
    await mailer?.send(tx, { to, template: 'new_browser', values: { device, network, at } })
  }

  return Object.freeze<KnownBrowsers>({
    async welcome(tx, personId, visitor) {
      const name = nameFor(personId)
      const now = new Date(clock())
      const expiresAt = new Date(clock() + memory * 1000)
      const own = readSecrets(visitor.cookies).filter((cookie) => cookie.name === name)
      const values = own.slice(-maxCookies).map(({ value }) => value)
      const known = await store.renewBrowser(tx, personId, { hashes: values.map(hashOf), expiresAt })
      const kept = values.find((value) => known?.equals(hashOf(value)))
      if (kept !== undefined) return setCookie(name, kept, memory)
      // Never a value that the browser brought: another could have planted it.
      const value = newSecret()
      const { email, hasOthers } = await store.insertBrowser(tx, personId, { hash: hashOf(value), expiresAt, now })
      if (hasOthers && email !== null) await report(tx, email, visitor, now)
      return setCookie(name, value, memory)
    },
  })
}
