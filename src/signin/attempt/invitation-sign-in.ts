import type { RequestOrigin } from '../../access/actor.ts'
import type { Identities, InvitedPerson, WelcomeStep } from '../../people/identities.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { hashOf, newSecret } from '../session/cookies.ts'
import type { GateResult } from '../gate.ts'
import type { SignInMethod } from '../methods/method.ts'
import type { SignUp } from '../sign-up.ts'
import type { SignInParts } from './steps.ts'
import type { UsableMethods } from '../usable-methods.ts'
import type { Visitor } from '../visitor/visitor.ts'

/** The method of a session that began with an invitation. */
const method = 'invitation'

/** The password that an invited person chooses with the invitation. */
export interface FirstPassword {
  /** The fewest characters. */
  minimum(this: void, invited: Pick<InvitedPerson, 'role'>): Promise<number>
  /** Returns what stores it when its person is created. Throws Problem `invalid_field` with the reason, `overloaded`. */
  prepare(this: void, password: string, invited: InvitedPerson, origin: RequestOrigin): Promise<WelcomeStep>
}

/** The data of the invitation page. */
export interface InvitationSummary extends InvitedPerson {
  /** The password that can be chosen; undefined if people do not sign in with passwords. */
  readonly password: { readonly minimum: number; readonly isOnlyWay: boolean } | undefined
}

export interface InvitationSignIn {
  /** The invited person. Consumes nothing, because mail scanners open links. Throws Problem `sign_in_failed`. */
  inspectInvitation(token: string, visitor: Visitor): Promise<InvitationSummary>
  /**
   * Creates the invited person, with a password if they chose one, and signs them in: the link proves their address. Until
   * they have a way to sign in, and while they have no session, the link signs the same person in again. Throws Problem
   * `sign_in_failed`, `too_many_sign_ins`, `invalid_field` for a refused password, and `sign_in_refused` in a browser in
   * which someone is signed in; the invitation stays open with the last two.
   */
  acceptInvitation(accepted: AcceptedInvitation, visitor: Visitor): Promise<GateResult>
}

interface AcceptedInvitation {
  readonly token: string
  readonly password?: string | undefined
}

interface Needs extends SignInParts {
  readonly signUp: Pick<SignUp, 'invited' | 'acceptInvitation'>
  readonly identities: Pick<Identities, 'invitation' | 'closeInvitation'>
  readonly usable: Pick<UsableMethods, 'of'>
  readonly methods: readonly SignInMethod[]
  /** Undefined if people do not sign in with passwords. */
  readonly firstPassword: FirstPassword | undefined
}

export function createInvitationSignIn(needs: Needs): InvitationSignIn {
  const { attempts, sessions, signUp, gate, steps, methods, firstPassword, identities, usable } = needs
  const isOnlyWay = methods.every((each) => each.kind === 'credential' && each.mustBeSetUp)

  /** What stores the chosen password. It is checked first, so that a refused one does not use up the invitation. */
  async function prepare({ token, password }: AcceptedInvitation, { requestId, address }: Visitor) {
    if (password === undefined) return undefined
    if (firstPassword === undefined) {
      throw new Problem('invalid_field', 'This service does not use passwords.', { field: 'password' })
    }
    return firstPassword.prepare(password, await signUp.invited(token), { requestId, address })
  }

  /** The person of the invitation, and whether it is still open, since they have no way to sign in yet. */
  async function accept({ token }: AcceptedInvitation, storePassword: WelcomeStep | undefined) {
    let isOpen = true
    const person = await signUp.acceptInvitation(token, async (tx, invited) => {
      if ((await sessions.list(invited.id, tx)).length > 0) throw signedInElsewhere()
      await storePassword?.(tx, invited)
      if ((await usable.of(invited, tx)).length === 0) return
      isOpen = false
      await identities.closeInvitation(tx, invited.id)
    })
    /** Lets one of several requests at once get the session. The one that is being started is in the list. */
    const stillHolds = async (tx: Queryable) => {
      if (isOpen) await signUp.invited(token, tx)
      return (await sessions.list(person.id, tx)).length <= 1
    }
    return { claim: { by: 'person', personId: person.id }, stillHolds } as const
  }

  return {
    inspectInvitation: (token, visitor) =>
      steps.complete(visitor, async (details) => {
        details.method = method
        const invited = await signUp.invited(token)
        const password = firstPassword && { minimum: await firstPassword.minimum(invited), isOnlyWay }
        return { ...invited, password }
      }),
    acceptInvitation: (accepted, visitor) =>
      steps.complete(visitor, async (details) => {
        details.method = method
        const session = await sessions.recognise(visitor.cookies)
        if (session !== undefined) {
          throw signedInAs(session.person, await identities.invitation({ token: accepted.token }))
        }
        const proven = await accept(accepted, await prepare(accepted, visitor))
        const [state, returnTo] = [newSecret(), '/']
        await attempts.begin({ state, method, data: {}, returnTo, cookies: visitor.cookies })
        const attempt = { stateHash: hashOf(state), method, data: {}, returnTo, linksTo: null }
        await attempts.finish(attempt, 'begun')
        // A password that was chosen just now proves nothing.
        const proof = { ...proven, factors: ['email'] } as const
        return gate.admit(proof, attempt, visitor)
      }),
  }
}

function signedInElsewhere(): Problem {
  return new Problem(
    'sign_in_failed',
    'This invitation was used, and the person it invited is signed in. Continue in that browser, or ask a partner of the firm to end the session.',
  )
}

function signedInAs(
  { id, name }: { readonly id: string; readonly name: string },
  invitation: InvitedPerson | undefined,
): Problem {
  if (id === invitation?.personId) {
    return new Problem('sign_in_refused', 'You are signed in. Set up a way to sign in at /me.')
  }
  return new Problem(
    'sign_in_refused',
    `You are signed in as ${name}, but this invitation is for someone else. Sign out, then open the link again.`,
  )
}
