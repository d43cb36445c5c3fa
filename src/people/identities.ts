import * as store from './identities-store.ts'
import { personActor, type Role } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { withdrawals } from './change.ts'
import type { Email } from './email.ts'
import { hashOfInvitation } from './invitations/invitations.ts'
import type { Identity, ListedIdentity, PersonSummary } from './person.ts'
import { closeUnfinished, readUsable, withdrawOf, type InvitationKey } from './invitations/store.ts'
import {
  acceptWithin,
  joinWithin,
  ownEntry,
  welcomeWithin,
  type ClaimStep,
  type JoinedPerson,
  type JoiningAddress,
} from './invitations/joining.ts'
import { readPerson, readPersonByEmail } from './store.ts'

/** Finds the person behind a proof, and creates one where sign-up allows it. Returned people may be disabled. */
export interface Identities {
  byIdentity(identity: Identity, within?: Queryable): Promise<PersonSummary | undefined>
  byAddress(email: Email, within?: Queryable): Promise<PersonSummary | undefined>
  byId(personId: string, within?: Queryable): Promise<PersonSummary | undefined>
  /**
   * Gives a new identity its person: the one with this address who has no identity yet, or a new person, who was invited
   * or is a consultant whom the policy allows. Undefined if there is none. Concurrent sign-ins with one identity get the
   * same person. `claimed` runs in the same transaction.
   */
  welcome(
    identity: Identity,
    joining: JoiningAddress & { readonly claimed: ClaimStep },
  ): Promise<PersonSummary | undefined>
  /**
   * Creates the person of a proven address, who was invited or is a consultant whom the policy allows. Undefined if another
   * person has the address.
   */
  join(joining: JoiningAddress): Promise<PersonSummary | undefined>
  /** The address and the name of an invitation that can be accepted now. */
  invitation(which: Token | Email, within?: Queryable): Promise<InvitedPerson | undefined>
  /**
   * The person of an invitation, created once, with `welcome` in the same transaction. It can be accepted again until the
   * person has a way to sign in. Undefined if it cannot be accepted.
   */
  accept(which: Token, welcome?: WelcomeStep): Promise<PersonSummary | undefined>
  /** Closes the invitation of a person who has a way to sign in. */
  closeInvitation(tx: Queryable, personId: string): Promise<void>
  /** Gives a person one more identity, unless it belongs to a person already. */
  identify(personId: string, identity: Identity): Promise<void>
  /** Gives a person one more identity, in the transaction of the caller. False if it belongs to a person already. */
  link(tx: Queryable, personId: string, identity: Identity): Promise<boolean>
  /** Takes an identity from a person, in the transaction of the caller. Its issuer; undefined if it is not theirs. */
  unlink(tx: Queryable, personId: string, id: string): Promise<string | undefined>
  /** The person's identities, oldest first. */
  of(personId: string): Promise<readonly ListedIdentity[]>
  /** The issuers of the person's identities. */
  issuersOf(personId: string, database?: Queryable): Promise<readonly string[]>
  /**
   * Adopts an address that changed at the provider since the last sign-in, unless another person has it. `conclude` runs in
   * the transaction of the change.
   */
  keepEmail(person: PersonSummary, identity: Identity, change: AddressChange): Promise<void>
}

/** An address that a provider reports, and what a change to it entails. */
export interface AddressChange {
  readonly email: Email
  /** Runs before the change: what was mailed to the old address ends by it. */
  readonly conclude: (tx: Queryable, before: PersonSummary) => Promise<void>
}

/** What is done for a person who accepts an invitation. */
export type WelcomeStep = (tx: Queryable, person: PersonSummary) => Promise<void>

/** The token of an invitation's link. */
interface Token {
  readonly token: string
}

/** Whom an invitation is for. */
export interface InvitedPerson {
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly expiresAt: Date
  /** Who has accepted it, and has no way to sign in yet. */
  readonly personId: string | null
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createIdentities({ database, audit }: Needs): Identities {
  const joined = (work: (tx: Queryable) => Promise<JoinedPerson>, welcome?: WelcomeStep) =>
    database.transaction(async (tx) => {
      const { person, entries } = await work(tx)
      await audit.recordWithin(tx, entries)
      if (person) await welcome?.(tx, person)
      return person
    })

  return Object.freeze<Identities>({
    byIdentity: (identity: Identity, within: Queryable = database) => store.readPersonOf(within, identity),
    byAddress: ({ key }: Email, within: Queryable = database) => readPersonByEmail(within, key),
    byId: (personId: string, within: Queryable = database) => readPerson(within, personId),
    welcome: (identity, joining) => joined((tx) => welcomeWithin(tx, identity, joining)),
    join: (joining: JoiningAddress) => joined((tx) => joinWithin(tx, joining)),
    invitation: (which: Token | Email, within: Queryable = database) => readUsable(within, keyOf(which), new Date()),
    accept: (which: Token, welcome?: WelcomeStep) => joined((tx) => acceptWithin(tx, keyOf(which)), welcome),
    closeInvitation: (tx, personId) => closeUnfinished(tx, personId, new Date()),
    identify: (personId, identity) =>
      database.transaction(async (tx) => {
        const added = await store.insertIdentity(tx, identity, { personId, at: new Date() })
        if (!added) return
        await audit.recordWithin(tx, [ownEntry('identity_added', personId, { issuer: identity.issuer })])
      }),
    link: (tx, personId, identity) => store.insertIdentity(tx, identity, { personId, at: new Date() }),
    unlink: store.deleteIdentity,
    of: (personId) => store.readIdentities(database, personId),
    issuersOf: (personId: string, within: Queryable = database) => store.readIssuers(within, personId),
    async keepEmail(person, identity, { email, conclude }) {
      try {
        await database.transaction(async (tx) => {
          const hasChanged = await store.noteReported(tx, identity, email.key)
          if (!hasChanged || person.email === email.address) return
          await conclude(tx, person)
          await store.updateEmail(tx, person.id, email)
          const withdrawn = await withdrawOf(tx, email.key, new Date())
          await audit.recordWithin(tx, withdrawals(withdrawn, { actor: personActor(person) }))
        })
      } catch (error) {
        if (!store.isIdentityTaken(error)) throw error
      }
    },
  })
}

function keyOf(which: Token | Email): InvitationKey {
  return 'token' in which ? { tokenHash: hashOfInvitation(which.token) } : { emailKey: which.key }
}
