import { byService } from '../../../access/actor.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { Email } from '../../../people/email.ts'
import type { Database } from '../../../platform/database/database.ts'
import { Problem } from '../../../platform/problems.ts'
import type { Visitor } from '../../visitor/visitor.ts'
import type { Guesses } from './guesses.ts'
import type { Hashing } from './hashing.ts'
import { readPasswordOwner, renewHash, type HashRenewal, type PasswordOwner } from './store.ts'
import { maxPasswordBytes, readPassword } from './policy.ts'

/**
 * The person with this address and password. An unknown address and a wrong password get the same reply for the same work.
 * Throws Problem `sign_in_failed`, `too_many_sign_ins`, `overloaded`.
 */
export type CheckPassword = (
  claim: { readonly email: Email; readonly password: string },
  visitor: Visitor,
) => Promise<PasswordOwner>

export interface CheckNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly mailer: Mailer
  readonly hashing: Hashing
  readonly guesses: Guesses
}

/** The number of consecutive wrong passwords after which the person is warned, and an unknown address is recorded. */
const warnAt = 10

export function createPasswordCheck(needs: CheckNeeds): CheckPassword {
  const { database, hashing, guesses } = needs

  return async ({ email, password }, visitor) => {
    const { key } = email
    const text = readPassword(password)
    if (text === undefined) throw tooLong()
    return guesses.inTurn(key, visitor, async () => {
      await guesses.admit(key, visitor)
      return hashing.inTurn(async ({ verify, hash, isOutdated }) => {
        const count = await guesses.count(key, visitor)
        const owner = await readPasswordOwner(database, key)
        const before = owner?.hash ?? undefined
        const isRight = await verify(text, before)
        if (owner === undefined || before === undefined || !isRight) {
          await guesses.fail(visitor)
          if (count === warnAt) await warn(needs, email, owner, visitor)
          throw wrong()
        }
        await guesses.forget(key)
        if (isOutdated(before)) await renew(needs, { personId: owner.id, before, hash: await hash(text) })
        return owner
      })
    })
  }
}

/** Stores a hash of the same password with the present parameters. */
function renew({ database, audit }: CheckNeeds, renewal: HashRenewal): Promise<void> {
  return database.transaction(async (tx) => {
    if (!(await renewHash(tx, renewal))) return
    const about = { noun: 'person', nounId: renewal.personId }
    await audit.recordWithin(tx, [{ ...byService, action: 'password_rehashed', outcome: 'allowed', ...about }])
  })
}

/** The same work for an unknown address: the mail to it is queued, and is not sent. */
async function warn(
  { database, audit, mailer }: CheckNeeds,
  { address: to }: Email,
  owner: PasswordOwner | undefined,
  { requestId, address }: Visitor,
): Promise<void> {
  await database.transaction(async (tx) => {
    await audit.recordWithin(tx, [
      {
        ...byService,
        requestId,
        address,
        action: 'password_guessed',
        outcome: 'refused',
        ...(owner && { noun: 'person', nounId: owner.id }),
        details: { guesses: String(warnAt) },
      },
    ])
    const mail = { template: 'account_changed', values: { what: 'guessing' } } as const
    await mailer.send(tx, { ...mail, to, onlyFor: 'person' })
  })
}

function wrong(): Problem {
  return new Problem('sign_in_failed', 'The email address or the password is wrong.')
}

function tooLong(): Problem {
  return new Problem('invalid_field', `A password can have at most ${maxPasswordBytes} bytes.`, {
    field: 'input.password',
  })
}
