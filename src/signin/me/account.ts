import type { Identity, ListedIdentity, Person } from '../../people/person.ts'
import type { PasskeyRow } from '../methods/passkey/store.ts'
import { createOwnCalendar, type OwnCalendar } from './calendar.ts'
import { createConfirmation, type Confirmation } from './confirmation.ts'
import { createOwnFactors, type OwnFactors } from './factors.ts'
import { changeOwn, type OwnChange, type OwnNeeds } from './own.ts'
import { readCalendarTimes, readSignIns, type CalendarTimes, type SignInRow } from './store.ts'
import { createOwnTaskMail, type OwnTaskMail } from './task-mail.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'

/** A person's sign-in methods, and the changes they may make. */
export interface OwnAccount {
  readonly factors: OwnFactors
  readonly identities: OwnIdentities
  readonly confirmation: Confirmation
  readonly calendar: OwnCalendar
  readonly taskMail: OwnTaskMail
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
  /** Undefined: the calendar has no address. */
  readonly calendar: CalendarTimes | undefined
  /** Whether the person is mailed their tasks; null if they cannot be. */
  readonly taskMail: boolean | null
}

const listedSignIns = 20

export function createOwnAccount(needs: OwnNeeds): OwnAccount {
  const { database, usable, policy, identities, passkeys, recoveryCodes } = needs
  const confirmation = createConfirmation(needs)
  const taskMail = createOwnTaskMail(needs)
  return Object.freeze<OwnAccount>({
    confirmation,
    taskMail,
    factors: createOwnFactors(needs),
    identities: createOwnIdentities(needs),
    calendar: createOwnCalendar(needs),
    async read(person) {
      const [
        methods,
        states,
        ownPasskeys,
        ownIdentities,
        recoveryCodesLeft,
        confirmations,
        signIns,
        calendar,
        isMailed,
      ] = await Promise.all([
        usable.of(person),
        Promise.all(policy.enrollable.map((factor) => factor.isSetUp(person.id))),
        passkeys?.of(person.id) ?? [],
        identities.of(person.id),
        recoveryCodes.count(person.id),
        confirmation.choices(person),
        readSignIns(database, person.id, listedSignIns),
        readCalendarTimes(database, person.id),
        taskMail.isOn(person),
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
        calendar,
        taskMail: isMailed,
      }
    },
  })
}

/** The identities at providers of the person who is signed in. */
interface OwnIdentities {
  /** Nothing changes if the identity is theirs. Throws Problem `conflict` if it is another person's. */
  link(change: OwnChange, identity: Identity): Promise<void>
  /** Returns how many other sessions ended. Throws Problem `not_found`, and `conflict` for the last way to sign in. */
  unlink(change: OwnChange, id: string): Promise<number>
}

function createOwnIdentities(needs: OwnNeeds): OwnIdentities {
  const { identities, usable } = needs
  return {
    async link(change, identity) {
      const owner = await identities.byIdentity(identity)
      if (owner?.id === change.session.person.id) return
      await changeOwn(needs, change, async (tx, person) => {
        if (!(await identities.link(tx, person.id, identity))) throw taken()
        const { issuer } = identity
        return { action: 'identity_added', details: { issuer }, notice: { what: 'sign_in_method_linked' } }
      })
    },
    unlink: (change, id) =>
      changeOwn(needs, change, async (tx, person) => {
        const issuer = isUuid(id) ? await identities.unlink(tx, person.id, id) : undefined
        if (issuer === undefined) throw new Problem('not_found', 'You have no such identity. GET /me lists yours.')
        await usable.requireOne(tx, person)
        return { action: 'identity_removed', details: { issuer }, notice: { what: 'sign_in_method_removed' } }
      }),
  }
}

function taken(): Problem {
  return new Problem('conflict', 'This account at the provider belongs to another person here.')
}
