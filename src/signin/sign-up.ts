import type { Email } from '../people/email.ts'
import type { Identities } from '../people/identities.ts'
import type { PersonSummary } from '../people/people.ts'
import type { Config } from '../platform/config/config.ts'
import { Problem } from '../platform/problems.ts'
import type { Proof } from './methods/method.ts'

export type SignUpPolicy = Config['sign_in']['sign_up']

/** Who may come in (section 5.2 of the specification), and as whom. */
export interface SignUp {
  /** The person whom a proof is of; somebody new becomes one where the policy lets them. Throws `sign_in_refused`. */
  admit(proof: Proof): Promise<PersonSummary>
}

/**
 * - `anyone`: whoever has an address that counts.
 * - `domain`: addresses at one of the domains, looked at again at every sign-in, whoever entered the person.
 * - `invited`: people who were entered beforehand, by the first identity that has their address.
 */
export function createSignUp({ policy, identities }: { policy: SignUpPolicy; identities: Identities }): SignUp {
  const { policy: who, domains } = policy
  const mayHave = (email: Email | undefined) =>
    who !== 'domain' || (email !== undefined && domains.includes(email.domain))

  return Object.freeze({
    async admit({ issuer, subject, email }: Proof) {
      const known = await identities.find({ issuer, subject })
      if (known !== undefined) {
        if (known.status !== 'active' || !mayHave(email)) throw refused()
        if (email !== undefined) await identities.keepEmail(known, email)
        return known
      }
      if (email === undefined) throw withoutEmail()
      if (!mayHave(email)) throw refused()
      const person = await identities.welcome({ issuer, subject }, { email, mayJoin: who !== 'invited' })
      if (person?.status !== 'active') throw refused()
      return person
    },
  })
}

/** The same for a stranger, for an address that is somebody's and for somebody disabled: it tells of nobody. */
function refused(): Problem {
  return new Problem(
    'sign_in_refused',
    'You may not sign in here with this account. Ask a partner of the firm to let you in.',
  )
}

function withoutEmail(): Problem {
  return new Problem(
    'sign_in_refused',
    'Your provider does not vouch for an e-mail address of yours, which a first sign-in needs. Confirm it there, or ask a partner of the firm.',
  )
}
