import { personActor, type RequestOrigin } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { CredentialChanges } from '../credential-change.ts'
import type { EnrollableFactor } from '../factor-policy.ts'
import { lockActivePerson } from './locked-person-store.ts'
import type { BegunEnrolment, RecoveryCodes } from '../methods/method.ts'

/** A submission that completes the set-up of a second factor. */
export interface EnrolmentRequest extends BegunEnrolment {
  readonly factor: EnrollableFactor
  readonly input: unknown
  /** The session that stays. */
  readonly exceptId?: string
  readonly origin: RequestOrigin
}

export interface EnrolmentResult {
  /** Created with the first factor, and shown this once. */
  readonly recoveryCodes: readonly string[] | undefined
  /** How many other sessions of the person ended. */
  readonly ended: number
}

/** Sets up second factors, during a sign-in or for a signed-in person. */
export interface Enrolments {
  /**
   * In one transaction with the person's row locked: `before`, which uses up the request; the factor; recovery codes
   * for the first one; the end of the other sessions, the audit row and the mail. Throws Problem.
   */
  complete(this: void, request: EnrolmentRequest, before: (tx: Queryable) => Promise<void>): Promise<EnrolmentResult>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly changes: CredentialChanges
  readonly recoveryCodes: RecoveryCodes
}

export function createEnrolments({ database, audit, changes, recoveryCodes }: Needs): Enrolments {
  return Object.freeze({
    complete: (request: EnrolmentRequest, before: (tx: Queryable) => Promise<void>) =>
      database.transaction(async (tx) => {
        const { factor, personId, input, data, name, exceptId, origin } = request
        const person = await lockActivePerson(tx, personId)
        if (person === undefined) throw new Problem('sign_in_refused', 'You may not sign in here.')
        await before(tx)
        const by = { actor: personActor(person), ...origin }
        await factor.enrol.complete(tx, input, { personId, data, name })
        const isFirst = (await recoveryCodes.count(personId, tx)) === 0
        const created = isFirst ? await recoveryCodes.create(tx, personId) : undefined
        if (created) {
          const about = { noun: 'person', nounId: personId }
          await audit.recordWithin(tx, [{ ...by, action: 'recovery_codes_created', outcome: 'allowed', ...about }])
        }
        const { added: what } = factor.enrol.changes
        const ended = await changes.conclude(tx, { person, action: what, notice: { what }, exceptId, by })
        return { recoveryCodes: created, ended }
      }),
  } satisfies Enrolments)
}
