import type { Visit } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Identities } from '../../people/identities.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import type { CredentialChange, CredentialChanges } from '../credential-change.ts'
import type { Enrolments } from '../attempt/enrolments.ts'
import type { FactorPolicy } from '../factor-policy.ts'
import { lockSignedIn, type LockedPerson } from '../attempt/locked-person-store.ts'
import type { Passkeys } from '../methods/passkey/passkeys.ts'
import type { RecoveryCodes, SignInMethod } from '../methods/method.ts'
import type { Session, Sessions } from '../session/sessions.ts'
import type { Steps } from '../attempt/steps.ts'
import type { UsableMethods } from '../usable-methods.ts'

/** The dependencies of people's changes to their own sign-in. */
export interface OwnNeeds {
  readonly database: Database
  readonly encryption: Pick<Encryption, 'mac'>
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly changes: CredentialChanges
  readonly identities: Identities
  readonly policy: FactorPolicy
  readonly enrolments: Enrolments
  readonly recoveryCodes: RecoveryCodes
  readonly usable: UsableMethods
  readonly sessions: Pick<Sessions, 'renew'>
  readonly steps: Steps
  readonly methods: readonly SignInMethod[]
  /** Undefined if they are not configured or cannot work at `base_url`. */
  readonly passkeys: Passkeys | undefined
  /** Whether a mail server is configured. */
  readonly hasMail: boolean
  /** The time zone of the firm, a name of the IANA database. */
  readonly timeZone: string
  /** ms since 1970. */
  readonly clock: () => number
}

/** A change by a person who is signed in. */
export interface OwnChange {
  readonly session: Pick<Session, 'id' | 'person'>
  readonly by: Visit
}

type Conclusion = Pick<CredentialChange, 'action' | 'details' | 'notice'>

/**
 * Runs a change in a transaction with the person's row locked, ends the person's other sessions, and notifies them. Returns
 * how many sessions ended.
 */
export async function changeOwn(
  { database, changes }: Pick<OwnNeeds, 'database' | 'changes'>,
  { session, by }: OwnChange,
  work: (tx: Queryable, person: LockedPerson) => Promise<Conclusion>,
): Promise<number> {
  return database.transaction(async (tx) => {
    const person = await lockSignedIn(tx, session)
    if (person === undefined) throw new Problem('not_signed_in', 'Sign in first: your session has ended.')
    const conclusion = await work(tx, person)
    return changes.conclude(tx, { ...conclusion, person, exceptId: session.id, by })
  })
}

/** After a factor was removed. Throws Problem `conflict` if the policy requires one and none is left. */
export async function settleRemoval(
  { policy, recoveryCodes }: Pick<OwnNeeds, 'policy' | 'recoveryCodes'>,
  tx: Queryable,
  { id, role }: LockedPerson,
): Promise<void> {
  if (await policy.hasFactor(id, tx)) return
  if (policy.isRequired(role)) {
    throw new Problem('conflict', 'You need a second factor, and this is your only one. Set up another one first.')
  }
  await recoveryCodes.remove(tx, id)
}
