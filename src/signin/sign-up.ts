import { personActor } from '../access/actor.ts'
import { mayOnSome } from '../access/policy.ts'
import type { RecipientOf, RecipientRule } from '../mail/mailer.ts'
import { readEmail, type Email } from '../people/email.ts'
import type { Identities, InvitedPerson, WelcomeStep } from '../people/identities.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { PersonSummary } from '../people/person.ts'
import type { Config } from '../platform/config/config.ts'
import { Problem } from '../platform/problems.ts'
import type { Claim } from './methods/method.ts'

export type SignUpPolicy = Config['sign_in']['sign_up']

/** Who may sign in (section 5.2 of the specification). */
export interface SignUp {
  /**
   * The person whom a proof establishes; a new one if the policy allows it. Adopts an address that changed at the provider.
   * Throws Problem `sign_in_refused`.
   */
  admit(claim: Claim, adoption: Adoption): Promise<PersonSummary>
  /** The person whom a proof establishes as of now, in the transaction that admits them. Creates and changes nothing. */
  claimant(this: void, tx: Queryable, claim: Claim): Promise<PersonSummary | undefined>
  /** The person of a proven address; a new one if the policy allows it. Throws Problem `sign_in_refused`. */
  admitAddress(this: void, email: Email): Promise<PersonSummary>
  /** The address of the person who has it, if they may sign in; the given one for a person who may sign up. */
  readonly recipientOf: RecipientOf
  /** Whom an invitation is for. Throws Problem `sign_in_failed` if it cannot be accepted. */
  invited(this: void, token: string, within?: Queryable): Promise<InvitedPerson>
  /**
   * The person of an invitation, created once, with `welcome` in the same transaction. It can be accepted again until the
   * person has a way to sign in. Throws Problem `sign_in_failed`.
   */
  acceptInvitation(this: void, token: string, welcome?: WelcomeStep): Promise<PersonSummary>
}

/** The changes that a sign-in at a provider may make to a person, with their consequences in the same transaction. */
export interface Adoption {
  /** The address changed at the provider; `email` is the new one. */
  readonly addressChanged: (tx: Queryable, before: PersonSummary, email: Email) => Promise<void>
  /** The identity became that of a person who has signed in before, because of the address. */
  readonly identityAdded: (tx: Queryable, person: PersonSummary) => Promise<void>
}

type ClaimBy<By extends Claim['by']> = Extract<Claim, { readonly by: By }>

/**
 * - `anyone`: everyone with an address that counts.
 * - `domain`: addresses at one of the domains, checked at every sign-in, including those of people who were added.
 * - `invited`: people who were added or invited beforehand.
 */
export function createSignUp({ policy, identities }: { policy: SignUpPolicy; identities: Identities }): SignUp {
  const mayJoin = policy.policy !== 'invited'
  const isAllowed = (email: Email | undefined) =>
    policy.policy !== 'domain' || (email !== undefined && policy.domains.includes(email.domain))

  async function byIdentity(
    { issuer, subject, email }: ClaimBy<'identity'>,
    { addressChanged, identityAdded: claimed }: Adoption,
  ): Promise<PersonSummary | undefined> {
    const known = await identities.byIdentity({ issuer, subject })
    if (known === undefined && email === undefined) throw withoutEmail()
    if (!isAllowed(email)) return undefined
    if (known === undefined) return email && identities.welcome({ issuer, subject }, { email, mayJoin, claimed })
    if (known.status === 'active' && email !== undefined) {
      const conclude = (tx: Queryable, before: PersonSummary) => addressChanged(tx, before, email)
      await identities.keepEmail(known, { issuer, subject }, { email, conclude })
    }
    return known
  }

  async function byEmail({ email }: ClaimBy<'email'>): Promise<PersonSummary | undefined> {
    if (!isAllowed(email)) return undefined
    const known = await identities.byAddress(email)
    // The second is undefined if another sign-in with the address was faster.
    return known ?? (await identities.join({ email, mayJoin })) ?? identities.byAddress(email)
  }

  async function byId({ personId }: ClaimBy<'person'>): Promise<PersonSummary | undefined> {
    const person = await identities.byId(personId)
    return person && isAllowed(readEmail(person.email ?? '')) ? person : undefined
  }

  function find(claim: Claim, adoption: Adoption): Promise<PersonSummary | undefined> {
    if (claim.by === 'identity') return byIdentity(claim, adoption)
    return claim.by === 'email' ? byEmail(claim) : byId(claim)
  }

  async function invited(token: string, within?: Queryable): Promise<InvitedPerson> {
    const invitation = await identities.invitation({ token }, within)
    if (invitation === undefined || !isAllowed(readEmail(invitation.email))) throw notInvited()
    return invitation
  }

  return Object.freeze<SignUp>({
    async recipientOf(address, rule) {
      const email = readEmail(address)
      if (email === undefined || !isAllowed(email)) return undefined
      const known = await identities.byAddress(email)
      if (known !== undefined) return isRecipient(known, rule) ? (known.email ?? undefined) : undefined
      if (rule !== 'sign_in') return undefined
      return mayJoin || (await identities.invitation(email)) ? email.address : undefined
    },
    invited,
    async acceptInvitation(token: string, welcome?: WelcomeStep) {
      await invited(token)
      const person = await identities.accept({ token }, welcome)
      if (person === undefined) throw notInvited()
      return person
    },
    async claimant(tx, claim) {
      if (claim.by === 'identity') return identities.byIdentity(claim, tx)
      return claim.by === 'email' ? identities.byAddress(claim.email, tx) : identities.byId(claim.personId, tx)
    },
    admit: async (claim, adoption) => requireActive(await find(claim, adoption)),
    admitAddress: async (email) => requireActive(await byEmail({ by: 'email', email })),
  })
}

const isRecipient = ({ id, role, status }: PersonSummary, rule: RecipientRule): boolean =>
  status === 'active' && (rule !== 'record_reader' || mayOnSome(personActor({ id, role }), 'list', 'client'))

function requireActive(person: PersonSummary | undefined): PersonSummary {
  if (person?.status !== 'active') throw refused()
  return person
}

function notInvited(): Problem {
  return new Problem(
    'sign_in_failed',
    'This invitation was used, withdrawn or replaced by a newer one, or it has expired. Sign in, or ask a partner of the firm.',
  )
}

/** The same for a stranger, for a taken address and for a disabled person, so that it reveals nothing about others. */
function refused(): Problem {
  return new Problem('sign_in_refused', 'You may not sign in with this account. Ask a partner of the firm for access.')
}

function withoutEmail(): Problem {
  return new Problem(
    'sign_in_refused',
    'Your provider does not confirm an email address for you, which a first sign-in needs. Confirm it there, or ask a partner of the firm.',
  )
}
