import type { InvitedPerson } from '../people/identities.ts'
import { Problem } from '../platform/problems.ts'
import { hashOf, newSecret } from './cookies.ts'
import type { GateResult } from './gate.ts'
import type { SignUp } from './sign-up.ts'
import type { SignInParts } from './steps.ts'
import type { Visitor } from './visitor.ts'

/** The method of a session that began with an invitation. */
const method = 'invitation'

export interface InvitationSignIn {
  /** Whom it is for. Consumes nothing, because mail scanners open links. Throws Problem `sign_in_failed`. */
  inspectInvitation(token: string, visitor: Visitor): Promise<InvitedPerson>
  /**
   * Creates the invited person and signs them in: the link proves their address. Throws Problem `sign_in_failed`,
   * `too_many_sign_ins`, and `sign_in_refused` in a browser in which someone is signed in; the invitation stays open then.
   */
  acceptInvitation(token: string, visitor: Visitor): Promise<GateResult>
}

interface Needs extends SignInParts {
  readonly signUp: Pick<SignUp, 'invited' | 'acceptInvitation'>
}

export function createInvitationSignIn({ attempts, sessions, signUp, gate, steps }: Needs): InvitationSignIn {
  return {
    inspectInvitation: (token, visitor) =>
      steps.complete(visitor, async (details) => {
        details.method = method
        return signUp.invited(token)
      }),
    acceptInvitation: (token, visitor) =>
      steps.complete(visitor, async (details) => {
        details.method = method
        const session = await sessions.recognise(visitor.cookies)
        if (session !== undefined) throw signedInAs(session.person.name)
        const { id: personId } = await signUp.acceptInvitation(token)
        const [state, returnTo] = [newSecret(), '/']
        const cookie = await attempts.begin({ state, method, data: {}, returnTo, cookies: visitor.cookies })
        const attempt = { stateHash: hashOf(state), method, data: {}, returnTo, linksTo: null }
        await attempts.finish(attempt, 'begun')
        const proof = { claim: { by: 'person', personId }, factors: ['email'] } as const
        const admission = await gate.admit(proof, attempt, visitor)
        return { returnTo: admission.returnTo, cookie: admission.cookie ?? cookie }
      }),
  }
}

function signedInAs(name: string): Problem {
  return new Problem(
    'sign_in_refused',
    `You are signed in as ${name}, for whom this invitation is not. Sign out, then open the link again.`,
  )
}
