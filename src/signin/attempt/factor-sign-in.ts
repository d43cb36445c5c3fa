import type { Identities } from '../../people/identities.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { Encryption } from '../../platform/encryption/encryption.ts'
import { Problem } from '../../platform/problems.ts'
import type { ProvenAttempt, TriedAttempt } from './attempts.ts'
import { maxTries } from './binding.ts'
import type { Enrolments } from './enrolments.ts'
import type { FactorPolicy, PendingFactors } from '../factor-policy.ts'
import type { GateResult } from '../gate.ts'
import type { Challenge, SecondFactor } from '../methods/method.ts'
import { notUsable, type SignInParts } from './steps.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from './wrong-code.ts'
import { openProof } from './sealed-proof.ts'

export interface FactorSignIn extends EnrolmentSignIn {
  /** The choices of the visitor; undefined if no second factor is due. */
  pendingFactors(visitor: Pick<Visitor, 'cookies'>): Promise<PendingFactors | undefined>
  /** Throws Problem `not_found`, `sign_in_failed` if no second factor is due, `too_many_sign_ins`. */
  beginFactor(factor: string, visitor: Visitor): Promise<Challenge['challenge']>
  /** Forgets the first proofs that wait for a second factor. A session stays. */
  abandonFactor(visitor: Pick<Visitor, 'cookies'>): Promise<void>
  /** Starts the session. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeFactor(visitor: Visitor, input: unknown): Promise<GateResult>
}

export interface FactorSignInNeeds extends SignInParts {
  readonly factors: readonly SecondFactor[]
  readonly policy: FactorPolicy
  readonly enrolments: Enrolments
  readonly identities: Pick<Identities, 'byId' | 'invitation' | 'closeInvitation'>
  readonly encryption: Encryption
}

/** The steps between a first proof and the session, if a second factor is due. */
export function createFactorSignIn(needs: FactorSignInNeeds): FactorSignIn {
  const { factors, attempts, gate, steps } = needs
  const pending = createPendingSignIn(needs)

  return {
    ...createEnrolmentSignIn(needs, pending),
    async pendingFactors(visitor) {
      return (await pending.find(visitor))?.choice
    },
    abandonFactor: ({ cookies }) => attempts.abandon(cookies),
    beginFactor: (id, visitor) =>
      steps.begin(visitor, async (details) => {
        details.factor = id
        const { attempt, choice } = await pending.require(visitor)
        const factor = choice.due.find((each) => each.id === id)
        if (factor === undefined)
          throw new Problem('not_found', 'You have no such second factor. Choose one at /signin.')
        const { data, challenge } = await factor.begin(attempt.personId, visitor)
        await attempts.beginFactor(attempt, { factor: id, data, enrols: false })
        return challenge
      }),
    completeFactor: (visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await pending.try(visitor)
        const factor = factors.find(({ id }) => id === attempt.factor)
        if (factor === undefined || attempt.enrols) throw notUsable()
        const { personId, data, triesLeft: left } = attempt
        Object.assign(details, { method: attempt.method, factor: factor.id, of: personId })
        await countTries({ most: maxTries, left }, () => factor.complete(input, { personId, data, visitor }))
        const finish = async (tx: Queryable) => {
          if (!(await attempts.finish(attempt, 'proven', tx))) throw notUsable()
        }
        return gate.admitProven(attempt, factor.id, { visitor, finish })
      }),
  }
}

/** The set-up of a second factor that the policy requires and the person does not have yet. */
interface EnrolmentSignIn {
  /** Throws Problem `not_found`, `sign_in_failed` if none must be set up, `too_many_sign_ins`. */
  beginEnrolment(factor: string, visitor: Visitor, input: unknown): Promise<Challenge['challenge']>
  /** Starts the session. Throws Problem `sign_in_failed`, `sign_in_refused`, `too_many_sign_ins`. */
  completeEnrolment(visitor: Visitor, input: unknown): Promise<EnrolledGateResult>
}

interface EnrolledGateResult extends GateResult {
  readonly recoveryCodes: readonly string[] | undefined
}

function createEnrolmentSignIn(needs: FactorSignInNeeds, pending: PendingSignIn): EnrolmentSignIn {
  const { attempts, gate, steps, policy, enrolments, identities } = needs
  return {
    beginEnrolment: (id, visitor, input) =>
      steps.begin(visitor, async (details) => {
        details.factor = id
        const { attempt, choice } = await pending.require(visitor)
        const factor = choice.enrol.find((each) => each.id === id)
        const person = await identities.byId(attempt.personId)
        if (factor === undefined || person === undefined) {
          throw new Problem('not_found', 'No such second factor can be set up. Choose one at /signin.')
        }
        const { data, challenge } = await factor.enrol.begin(person, input, visitor)
        await attempts.beginFactor(attempt, { factor: id, data, enrols: true })
        return challenge
      }),
    completeEnrolment: (visitor, input) =>
      steps.complete(visitor, async (details) => {
        const attempt = await pending.try(visitor)
        const factor = policy.enrollable.find(({ id }) => id === attempt.factor)
        if (factor === undefined || !attempt.enrols) throw notUsable()
        const { personId, data, triesLeft: left } = attempt
        Object.assign(details, { method: attempt.method, factor: factor.id, of: personId })
        const { requestId, address, device: name } = visitor
        const request = { factor, personId, data, input, name, origin: { requestId, address } }
        const before = async (tx: Queryable) => {
          // The second of two attempts at once finds the factor that the first has set up.
          if (await policy.hasFactor(personId, tx)) throw notUsable()
          if (!(await attempts.finish(attempt, 'proven', tx))) throw notUsable()
        }
        const tries = { most: maxTries, left }
        const { recoveryCodes } = await countTries(tries, () => enrolments.complete(request, before))
        // A partner may have removed the factor again before the session starts.
        const finish = async (tx: Queryable) => {
          if (!(await policy.hasFactor(personId, tx))) throw notUsable()
        }
        return { ...(await gate.admitProven(attempt, factor.id, { visitor, finish })), recoveryCodes }
      }),
  }
}

/** A sign-in that waits for a second factor, and the person's choices. */
interface FoundSignIn {
  readonly attempt: ProvenAttempt
  readonly choice: PendingFactors
}

interface PendingSignIn {
  find(visitor: Pick<Visitor, 'cookies'>): Promise<FoundSignIn | undefined>
  /** Throws Problem `sign_in_failed` if there is none. */
  require(visitor: Visitor): Promise<FoundSignIn>
  /** Counts a submission. Throws Problem `sign_in_failed` if there is none or no tries are left. */
  try(visitor: Visitor): Promise<TriedAttempt<ProvenAttempt>>
}

function createPendingSignIn({ attempts, policy, encryption }: FactorSignInNeeds): PendingSignIn {
  async function find({ cookies }: Pick<Visitor, 'cookies'>): Promise<FoundSignIn | undefined> {
    const attempt = await attempts.proven(cookies)
    if (attempt === undefined) return undefined
    return { attempt, choice: await policy.pending(attempt.personId, openProof(encryption, attempt).factors) }
  }

  return {
    find,
    async require(visitor) {
      const found = await find(visitor)
      if (found === undefined) throw notUsable()
      return found
    },
    async try({ cookies }) {
      const attempt = await attempts.proven(cookies)
      const tried = attempt && (await attempts.tryProven(attempt))
      if (tried === undefined) throw notUsable()
      return tried
    },
  }
}
