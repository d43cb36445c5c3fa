import { createCredentialSignIn, type CredentialSignIn } from './attempt/credential-sign-in.ts'
import { createFactorSignIn, type FactorSignIn, type FactorSignInNeeds } from './attempt/factor-sign-in.ts'
import { createInvitationSignIn, type FirstPassword, type InvitationSignIn } from './attempt/invitation-sign-in.ts'
import type { RedirectMethod, SignInMethod } from './methods/method.ts'
import type { OwnAccount } from './me/account.ts'
import { createRedirectSignIn, type RedirectSignIn } from './attempt/redirect-sign-in.ts'
import type { Refusals } from './refused-visitors.ts'
import type { SignUp } from './sign-up.ts'
import type { SignInParts } from './attempt/steps.ts'
import type { UsableMethods } from './usable-methods.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import type { Attempts } from './attempt/attempts.ts'
import { tokenContext } from './gate.ts'
import type { EndedSession, Sessions } from './session/sessions.ts'
import type { Visitor } from './visitor/visitor.ts'

/**
 * The states of a visitor (section 3 of the specification): anonymous → attempt begun → proven, if a second factor is
 * due → signed in. The session starts with the last step.
 */
export interface SignIn extends RedirectSignIn, CredentialSignIn, InvitationSignIn, FactorSignIn, SignOut {
  /** In the order of the configuration. */
  readonly methods: readonly SignInMethod[]
  /** What people change about their own sign-in. */
  readonly own: OwnAccount
  readonly refusals: Refusals
}

interface SignInNeeds extends SignInParts, FactorSignInNeeds, Pick<SignOutNeeds, 'encryption'> {
  readonly methods: readonly SignInMethod[]
  readonly firstPassword: FirstPassword | undefined
  readonly signUp: SignUp
  readonly own: OwnAccount
  readonly usable: UsableMethods
}

export function createSignIn(needs: SignInNeeds): SignIn {
  const { methods, refusals, own } = needs
  const redirects = methods.filter((method) => method.kind === 'redirect')
  const credentials = methods.filter((method) => method.kind === 'credential')
  return Object.freeze({
    methods,
    refusals,
    own,
    ...createRedirectSignIn({ ...needs, methods: redirects }),
    ...createCredentialSignIn({ ...needs, methods: credentials }),
    ...createInvitationSignIn(needs),
    ...createFactorSignIn(needs),
    ...createSignOut({ ...needs, methods: redirects }),
  })
}

/**
 * The longest ID token that is sent back to its provider: it travels in an address, and many servers accept 8 KiB for
 * all headers. Without it, the provider finds the client by `client_id`.
 */
const maxHint = 6000

interface SignOut {
  /**
   * Ends the browser's sessions, and its attempts that wait for a second factor. Returns where the browser goes: to the
   * provider, to sign out there too (OpenID Connect RP-Initiated Logout 1.0), or to /signin.
   */
  signOut(visitor: Visitor): Promise<string>
}

interface SignOutNeeds {
  readonly methods: readonly RedirectMethod[]
  readonly attempts: Pick<Attempts, 'abandon'>
  readonly sessions: Pick<Sessions, 'endOf'>
  readonly encryption: Encryption
}

function createSignOut({ methods, attempts, sessions, encryption }: SignOutNeeds): SignOut {
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
