import type { Person } from '../../people/person.ts'
import type { PasskeyRow } from '../passkeys/passkeys-store.ts'
import type { ListedIdentity } from '../../people/person.ts'
import { createConfirmation, type Confirmation } from './confirmation.ts'
import { createOwnFactors, type OwnFactors } from './factors.ts'
import { createOwnIdentities, type OwnIdentities } from './identities.ts'
import { createOwnPasskeys, type OwnPasskeys } from './passkeys.ts'
import type { OwnNeeds } from './own.ts'
import { readSignIns, type SignInRow } from './sign-ins-store.ts'

/** A person's sign-in methods, and the changes they may make. */
export interface OwnAccount {
  readonly factors: OwnFactors
  readonly passkeys: OwnPasskeys
  readonly identities: OwnIdentities
  readonly confirmation: Confirmation
  read(person: Pick<Person, 'id' | 'email' | 'role'>): Promise<OwnSignIn>
}

/** The data of /me. */
export interface OwnSignIn {
  /** The ids of the methods that the person can use. */
  readonly methods: readonly { readonly id: string; readonly name: string }[]
  /** The second factors that can be set up. */
  readonly factors: readonly { readonly id: string; readonly name: string; readonly isSetUp: boolean }[]
  readonly isFactorRequired: boolean
  readonly passkeys: readonly PasskeyRow[]
  readonly identities: readonly ListedIdentity[]
  readonly recoveryCodesLeft: number
  /** The factors with which the person can confirm who they are. */
  readonly confirmations: readonly { readonly id: string; readonly name: string }[]
  /** The newest first. */
  readonly signIns: readonly SignInRow[]
}

const listedSignIns = 20

export function createOwnAccount(needs: OwnNeeds): OwnAccount {
  const { database, usable, policy, identities, passkeys, recoveryCodes } = needs
  const confirmation = createConfirmation(needs)
  return Object.freeze({
    confirmation,
    factors: createOwnFactors(needs),
    passkeys: createOwnPasskeys(needs),
    identities: createOwnIdentities(needs),
    async read(person: Pick<Person, 'id' | 'email' | 'role'>) {
      const [methods, states, ownPasskeys, ownIdentities, recoveryCodesLeft, confirmations, signIns] =
        await Promise.all([
          usable.of(person),
          Promise.all(policy.enrollable.map((factor) => factor.isSetUp(person.id))),
          passkeys?.of(person.id) ?? [],
          identities.of(person.id),
          recoveryCodes.count(person.id),
          confirmation.choices(person),
          readSignIns(database, person.id, listedSignIns),
        ])
      return {
        methods,
        factors: policy.enrollable.map(({ id, name }, index) => ({ id, name, isSetUp: states[index] === true })),
        isFactorRequired: policy.isRequired(person.role),
        passkeys: ownPasskeys,
        identities: ownIdentities,
        recoveryCodesLeft,
        confirmations,
        signIns,
      }
    },
  } satisfies OwnAccount)
}
