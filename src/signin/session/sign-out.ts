import type { Encryption } from '../../platform/encryption/encryption.ts'
import type { Attempts } from '../attempt/attempts.ts'
import { tokenContext } from '../gate.ts'
import type { RedirectMethod } from '../methods/method.ts'
import type { EndedSession, Sessions } from './sessions.ts'
import type { Visitor } from '../visitor/visitor.ts'

/**
 * The longest ID token that is sent back to its provider: it travels in an address, and many servers accept 8 KiB for
 * all headers. Without it, the provider finds the client by `client_id`.
 */
const maxHint = 6000

export interface SignOut {
  /**
   * Ends the browser's sessions, and its attempts that wait for a second factor. Returns where the browser goes: to the
   * provider, to sign out there too (OpenID Connect RP-Initiated Logout 1.0), or to /signin.
   */
  signOut(visitor: Visitor): Promise<string>
}

export interface SignOutNeeds {
  readonly methods: readonly RedirectMethod[]
  readonly attempts: Pick<Attempts, 'abandon'>
  readonly sessions: Pick<Sessions, 'endOf'>
  readonly encryption: Encryption
}

export function createSignOut({ methods, attempts, sessions, encryption }: SignOutNeeds): SignOut {
  function hintOf({ personId, idToken }: EndedSession): string | undefined {
    const token = idToken === null ? undefined : encryption.decrypt(idToken, tokenContext(personId))
    return token !== undefined && token.length <= maxHint ? token : undefined
  }

  return {
    async signOut({ cookies, requestId, address }) {
      await attempts.abandon(cookies)
      const ended = await sessions.endOf(cookies, { requestId, address })
      const session = ended.find(({ provider }) => provider !== null)
      const method = methods.find(({ id }) => id === session?.provider)
      return (session && method?.signOutAddress(hintOf(session))?.href) ?? '/signin'
    },
  }
}
