import type { Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { EnrolmentResult } from '../attempt/enrolments.ts'
import type { EnrollableFactor } from '../factor-policy.ts'
import type { Challenge } from '../methods/method.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from '../attempt/wrong-code.ts'
import * as store from './store.ts'
import { changeOwn, settleRemoval, type OwnChange, type OwnNeeds } from './own.ts'

/** How long a person may take to set up a factor, in ms. */
const lifetime = 10 * 60_000
/** Maximum submissions per start. */
const maxTries = 5

/** The second factors and the recovery codes of the person who is signed in. */
export interface OwnFactors {
  /** Throws Problem `not_found`, `conflict`, `invalid_field`, `sms_failed`, `too_many_sign_ins`. */
  begin(change: OwnChange, factor: string, request: BeginFactor): Promise<Challenge['challenge']>
  /** Throws Problem `not_found`, `sign_in_failed`, `conflict`. */
  complete(change: OwnChange, factor: string, submission: FactorSubmission): Promise<EnrolmentResult>
  /** Returns how many other sessions ended. Throws Problem `not_found`, `conflict`. */
  remove(change: OwnChange, factor: string): Promise<number>
  /** Replaces all recovery codes. Throws Problem `conflict` if the person has no factor. */
  renewRecoveryCodes(change: OwnChange): Promise<EnrolmentResult>
}

interface BeginFactor {
  readonly input: unknown
  readonly visitor: Visitor
}

interface FactorSubmission {
  readonly input: unknown
  readonly name: string
}

export function createOwnFactors(needs: OwnNeeds): OwnFactors {
  const { database, policy, enrolments, recoveryCodes, usable, clock } = needs

  function find(id: string): EnrollableFactor {
    const factor = policy.enrollable.find((each) => each.id === id)
    if (factor === undefined) throw new Problem('not_found', 'There is no such second factor. GET /me lists them.')
    return factor
  }

  return {
    async begin({ session }, id, { input, visitor }) {
      const { data, challenge } = await find(id).enrol.begin(session.person, input, visitor)
      const key = { sessionId: session.id, factor: id }
      await store.insertBegun(database, 'enrolment', key, { data, expiresAt: new Date(clock() + lifetime) })
      return challenge
    },
    async complete({ session, by }, id, { input, name }) {
      const factor = find(id)
      const key = { sessionId: session.id, factor: id }
      const begun = await store.tryBegun(database, 'enrolment', key, { now: new Date(clock()), maxTries })
      if (begun === undefined) throw notBegun()
      const { data, triesLeft: left } = begun
      const { requestId, address } = by
      const request = { factor, personId: session.person.id, data, input, name, exceptId: session.id }
      const before = async (tx: Queryable) => {
        if (!(await store.deleteBegun(tx, 'enrolment', key))) throw notBegun()
      }
      return countTries({ most: maxTries, left }, () =>
        enrolments.complete({ ...request, origin: { requestId, address } }, before),
      )
    },
    remove: (change, id) =>
      changeOwn(needs, change, async (tx, person) => {
        const { enrol } = find(id)
        if (!(await enrol.remove(tx, person.id))) {
          throw new Problem('not_found', 'You have not set up this second factor.')
        }
        await settleRemoval(needs, tx, person)
        await usable.requireOne(tx, person)
        const { removed: what } = enrol.changes
        return { action: what, notice: { what } }
      }),
    async renewRecoveryCodes(change) {
      let created: readonly string[] = []
      const ended = await changeOwn(needs, change, async (tx, { id }) => {
        if (!(await policy.hasFactor(id, tx))) {
          throw new Problem('conflict', 'Recovery codes replace a lost second factor. Set one up first.')
        }
        created = await recoveryCodes.create(tx, id)
        return { action: 'recovery_codes_created', notice: { what: 'recovery_codes_created' } }
      })
      return { recoveryCodes: created, ended }
    },
  }
}

function notBegun(): Problem {
  return new Problem(
    'sign_in_failed',
    'This setup was not started in this session, has expired, or was completed before. Start again.',
  )
}
