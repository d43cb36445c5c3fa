import { createCredentialSignIn, type CredentialSignIn } from './attempt/credential-sign-in.ts'
import { createFactorSignIn, type FactorSignIn, type FactorSignInNeeds } from './attempt/factor-sign-in.ts'
import { createInvitationSignIn, type InvitationSignIn } from './attempt/invitation-sign-in.ts'
import type { SignInMethod } from './methods/method.ts'
import { createLinkSignIn, type LinkSignIn } from './attempt/link-sign-in.ts'
import type { EmailLinkMethod } from './methods/email-link.ts'
import type { PasswordService } from './methods/password/routes.ts'
import type { OwnAccount } from './me/account.ts'
import { createRedirectSignIn, type RedirectSignIn } from './attempt/redirect-sign-in.ts'
import type { Refusals } from './refusals.ts'
import { createSignOut, type SignOut, type SignOutNeeds } from './session/sign-out.ts'
import type { SignUp } from './sign-up.ts'
import type { SignInParts } from './attempt/steps.ts'
import type { UsableMethods } from './usable-methods.ts'

/**
 * The states of a visitor (section 3 of the specification): anonymous → attempt begun → proven, if a second factor is
 * due → signed in. The session starts with the last step.
 */
export interface SignIn extends RedirectSignIn, CredentialSignIn, LinkSignIn, InvitationSignIn, FactorSignIn, SignOut {
  /** In the order of the configuration. */
  readonly methods: readonly SignInMethod[]
  /** What people change about their own sign-in. */
  readonly own: OwnAccount
  readonly refusals: Refusals
  /** Undefined if people do not sign in with passwords. */
  readonly passwords: PasswordService | undefined
}

interface SignInNeeds extends SignInParts, FactorSignInNeeds, Pick<SignOutNeeds, 'encryption'> {
  readonly methods: readonly SignInMethod[]
  readonly emailLink: EmailLinkMethod | undefined
  readonly passwords: PasswordService | undefined
  readonly signUp: SignUp
  readonly own: OwnAccount
  readonly usable: UsableMethods
}

export function createSignIn(needs: SignInNeeds): SignIn {
  const { methods, refusals, passwords, own } = needs
  const redirects = methods.filter((method) => method.kind === 'redirect')
  const credentials = methods.filter((method) => method.kind === 'credential')
  return Object.freeze({
    methods,
    refusals,
    passwords,
    own,
    ...createRedirectSignIn({ ...needs, methods: redirects }),
    ...createCredentialSignIn({ ...needs, methods: credentials }),
    ...createLinkSignIn(needs),
    ...createInvitationSignIn(needs),
    ...createFactorSignIn(needs),
    ...createSignOut({ ...needs, methods: redirects }),
  })
}
