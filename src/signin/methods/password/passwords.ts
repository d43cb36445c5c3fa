import { personActor, type Visit } from '../../../access/actor.ts'
import { readEmail } from '../../../people/email.ts'
import type { Database } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import type { CredentialChanges } from '../../credential-change.ts'
import type { Session } from '../../session/sessions.ts'
import type { UsableMethods } from '../../usable-methods.ts'
import type { FirstPassword } from '../../attempt/invitation-sign-in.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import type { CheckPassword } from './check.ts'
import type { Hashing } from './hashing.ts'
import * as store from './store.ts'
import type { PasswordPolicy } from './policy.ts'
import type { MinimumOf } from './minimum-length.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { InvitedPerson } from '../../../people/identities.ts'

/** A signed-in person's changes to their own password. Every change ends their other sessions. */
export interface Passwords {
  /** Returns the number of sessions that ended. Throws Problem `invalid_field`, `missing_field`, `conflict`. */
  change(chosen: ChosenPassword, by: PasswordChanger): Promise<number>
  /** The same. Throws Problem `not_found`, or `conflict` if it is the only way to sign in. */
  remove(by: PasswordChanger): Promise<number>
}

export interface ChosenPassword {
  /** Required of a person who has a password. */
  readonly current: string | undefined
  readonly password: string
}

export interface PasswordChanger {
  readonly session: Session
  readonly visitor: Visitor
  readonly visit: Visit
}

export interface PasswordsNeeds {
  readonly database: Database
  readonly check: CheckPassword
  readonly hashing: Hashing
  readonly policy: PasswordPolicy
  readonly minimumOf: MinimumOf
  readonly changes: CredentialChanges
  readonly usable: Pick<UsableMethods, 'requireOne'>
}

export function createPasswords(needs: PasswordsNeeds): Passwords {
  const { database, changes, usable } = needs
  return Object.freeze<Passwords>({
    change: (chosen, by) => change(needs, chosen, by),
    remove: ({ session, visit }) =>
      database.transaction(async (tx) => {
        const owner = await store.lockOwnPassword(tx, session)
        if (owner === undefined || !(await store.deletePassword(tx, owner.id))) {
          throw new Problem('not_found', 'You have no password.')
        }
        await usable.requireOne(tx, owner)
        return changes.conclude(tx, {
          person: owner,
          action: 'password_removed',
          notice: { what: 'password_removed' },
          exceptId: session.id,
          by: visit,
        })
      }),
  })
}

async function change(
  needs: PasswordsNeeds,
  { current, password }: ChosenPassword,
  by: PasswordChanger,
): Promise<number> {
  const { database, hashing, policy, minimumOf, changes } = needs
  const { session, visitor, visit } = by
  const owner = await store.readPasswordOwnerById(database, session.person.id)
  if (owner === undefined) throw withoutAddress()
  if (owner.hash !== null) await checkCurrent(needs, owner, current, visitor)
  const text = await policy.check({ password, email: owner.email, minimum: await minimumOf(owner) })
  const hash = await hashing.inTurn((turn) => turn.hash(text))
  return database.transaction(async (tx) => {
    const locked = await store.lockOwnPassword(tx, session)
    // Someone may have recovered the account in the meantime.
    if (locked === undefined || locked.changedAt?.getTime() !== owner.changedAt?.getTime()) throw changedMeanwhile()
    await store.writePassword(tx, { personId: owner.id, hash, at: new Date() })
    return changes.conclude(tx, {
      person: owner,
      action: owner.hash === null ? 'password_set' : 'password_changed',
      notice: { what: 'password_changed' },
      exceptId: session.id,
      by: visit,
    })
  })
}

async function checkCurrent(
  { check }: PasswordsNeeds,
  owner: store.PasswordOwner,
  current: string | undefined,
  visitor: Visitor,
): Promise<void> {
  const email = readEmail(owner.email)
  if (current === undefined) throw new Problem('missing_field', 'Enter your current password.', { field: 'current' })
  if (email === undefined) throw withoutAddress()
  try {
    await check({ email, password: current }, visitor)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'sign_in_failed') throw error
    throw new Problem('invalid_field', 'The current password is wrong.', { field: 'current' })
  }
}

function withoutAddress(): Problem {
  return new Problem(
    'conflict',
    'A password needs an email address, and you have none here. Ask a partner of the firm.',
  )
}

function changedMeanwhile(): Problem {
  return new Problem('conflict', 'Your password has changed in the meantime. Sign in again.')
}

interface Needs {
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly hashing: Hashing
  readonly policy: PasswordPolicy
  readonly minimumOf: MinimumOf
}

export function createFirstPassword({ audit, hashing, policy, minimumOf }: Needs): FirstPassword {
  const minimum = ({ role }: Pick<InvitedPerson, 'role'>) => minimumOf({ role })
  return Object.freeze<FirstPassword>({
    minimum,
    async prepare(password, { email, role }, { requestId, address }) {
      const text = await policy.check({ password, email, minimum: await minimum({ role }) })
      const hash = await hashing.inTurn((turn) => turn.hash(text))
      return async (tx, person) => {
        await store.writePassword(tx, { personId: person.id, hash, at: new Date() })
        const about = { outcome: 'allowed', noun: 'person', nounId: person.id, requestId, address } as const
        await audit.recordWithin(tx, [{ ...about, actor: personActor(person), action: 'password_set' }])
      }
    },
  })
}
