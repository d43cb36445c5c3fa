import type { Person } from '../../people/person.ts'
import { Problem } from '../../platform/problems.ts'
import type { BegunFactor, Challenge, CredentialMethod } from '../methods/method.ts'
import type { Visitor } from '../visitor/visitor.ts'
import { countTries } from '../attempt/wrong-code.ts'
import * as store from './store.ts'
import type { OwnChange, OwnNeeds } from './own.ts'

/** How long a person may take, in ms. */
const lifetime = 10 * 60_000
/** Maximum submissions per start. */
const maxTries = 5

/** One of a person's factors, given in their session: it counts as a new sign-in. */
export interface Confirmation {
  /** The factors with which the person can confirm who they are. */
  choices(person: Pick<Person, 'id' | 'email'>): Promise<readonly Choice[]>
  /** Throws Problem `not_found`, `sms_failed`, `too_many_sign_ins`. */
  begin(change: OwnChange, factor: string, visitor: Visitor): Promise<Challenge['challenge']>
  /** Returns the new value of the session. Throws Problem `not_found`, `sign_in_failed`, `too_many_sign_ins`. */
  complete(change: OwnChange, factor: string, submission: Submission): Promise<string>
}

interface Choice {
  readonly id: string
  readonly name: string
}

interface Submission {
  readonly input: unknown
  readonly visitor: Visitor
}

/** A second factor, or a method with which people confirm who they are. */
interface OwnFactor extends Choice {
  begin(personId: string, visitor: Visitor): Promise<Challenge>
  complete(input: unknown, begun: BegunFactor): Promise<void>
}

export function createConfirmation(needs: OwnNeeds): Confirmation {
  const { database, audit, policy, sessions, steps, methods, clock } = needs

  async function factorsOf(person: Pick<Person, 'id' | 'email'>): Promise<readonly OwnFactor[]> {
    const { due } = await policy.pending(person.id, [])
    const own: OwnFactor[] = []
    for (const method of methods) {
      if (method.kind === 'redirect' || method.confirmation === undefined) continue
      if (await method.isUsableBy(person, database)) own.push(factorOf(method, method.confirmation, person))
    }
    return [...due, ...own]
  }

  async function find(person: Pick<Person, 'id' | 'email'>, id: string): Promise<OwnFactor> {
    const factor = (await factorsOf(person)).find((each) => each.id === id)
    if (factor === undefined) throw new Problem('not_found', 'You have no such factor. GET /me lists yours.')
    return factor
  }

  return {
    choices: async (person) => (await factorsOf(person)).map(({ id, name }) => ({ id, name })),
    begin: ({ session: { id: sessionId, person } }, id, visitor) =>
      steps.begin(visitor, async (details) => {
        Object.assign(details, { factor: id, of: person.id })
        const { data, challenge } = await (await find(person, id)).begin(person.id, visitor)
        const expiresAt = new Date(clock() + lifetime)
        await store.insertBegun(database, 'confirmation', { sessionId, factor: id }, { data, expiresAt })
        return challenge
      }),
    complete: ({ session: { id: sessionId, person }, by }, id, { input, visitor }) =>
      steps.complete(visitor, async (details) => {
        Object.assign(details, { factor: id, of: person.id })
        const key = { sessionId, factor: id }
        const begun = await store.tryBegun(database, 'confirmation', key, { now: new Date(clock()), maxTries })
        if (begun === undefined) throw notBegun()
        const { data, triesLeft: left } = begun
        const factor = await find(person, id)
        await countTries({ most: maxTries, left }, () => factor.complete(input, { personId: person.id, data, visitor }))
        return database.transaction(async (tx) => {
          const isFirst = await store.deleteBegun(tx, 'confirmation', key)
          const value = isFirst ? await sessions.renew(tx, sessionId) : undefined
          if (value === undefined) throw notBegun()
          const what = { action: 'identity_confirmed', noun: 'session', nounId: sessionId, details: { factor: id } }
          await audit.recordWithin(tx, [{ ...by, ...what, outcome: 'allowed' }])
          return value
        })
      }),
  }
}

function factorOf(
  method: CredentialMethod,
  submissionOf: NonNullable<CredentialMethod['confirmation']>,
  person: Pick<Person, 'id' | 'email'>,
): OwnFactor {
  return {
    id: method.id,
    name: method.name,
    begin: async () => ({ data: {}, challenge: {} }),
    async complete(input, { data, visitor }) {
      const { claim } = await method.complete(submissionOf(input, person), { data, visitor })
      if (claim.by !== 'person' || claim.personId !== person.id) throw notBegun()
    },
  }
}

function notBegun(): Problem {
  return new Problem(
    'sign_in_failed',
    'This confirmation was not started in this session, has expired, or was completed before. Start again.',
  )
}
