import { byService } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Identities } from '../../people/identities.ts'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { Throttle } from './throttle.ts'
import { WrongCode } from '../attempt/wrong-code.ts'

const window = 15 * 60_000
/** Wrong codes of one person, of all their factors, in all their browsers. */
const rule = { kind: 'second_factor', most: 5, window }
/** Wrong codes in succession, however slowly: at each fifth, the person is warned. */
const inSuccession = 'second_factor_wrong'
const warnAtEach = 5
/** One mail about it. */
const mailRule = { kind: 'second_factor_mail', most: 1, window }

/** Limits the guessing of short codes. Passkeys are not affected. */
export interface Guesses {
  /**
   * Runs a check, which throws if the code is wrong. Throws Problem `too_many_sign_ins` without running it after too many
   * wrong codes of the person. A right one starts the counts again. The person is warned before the first refusal.
   */
  check<Result>(this: void, personId: string, check: () => Promise<Result>): Promise<Result>
}

export interface GuessNeeds {
  readonly throttle: Throttle
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly identities: Pick<Identities, 'byId'>
  readonly mailer?: Mailer | undefined
}

export function createGuesses(needs: GuessNeeds): Guesses {
  const { throttle } = needs
  return Object.freeze({
    async check<Result>(personId: string, check: () => Promise<Result>) {
      // Counted before the check, so that codes sent at the same moment count too.
      const wait = await throttle.take(rule, personId)
      if (wait > 0) {
        await warn(needs, personId)
        throw tooManyCodes(wait)
      }
      try {
        const result = await check()
        await throttle.succeed(rule.kind, personId)
        await throttle.succeed(inSuccession, personId)
        return result
      } catch (error) {
        const isWrong = error instanceof WrongCode
        if (isWrong && (await throttle.fail(inSuccession, personId)) % warnAtEach === 0) await warn(needs, personId)
        throw error
      }
    },
  } satisfies Guesses)
}

/** Once in a quarter of an hour. */
async function warn({ database, throttle, audit, identities, mailer }: GuessNeeds, personId: string): Promise<void> {
  if ((await throttle.take(mailRule, personId)) > 0) return
  const person = await identities.byId(personId)
  await database.transaction(async (tx) => {
    await audit.recordWithin(tx, [
      { ...byService, action: 'second_factor_guessing', outcome: 'refused', noun: 'person', nounId: personId },
    ])
    if (person?.email) {
      await mailer?.send(tx, { to: person.email, template: 'account_changed', values: { what: 'guessing' } })
    }
  })
}

function tooManyCodes(wait: number): Problem {
  return new Problem('too_many_sign_ins', `Too many wrong codes. Try again in ${wait} s, or use a passkey.`, {
    retryAfter: wait,
    limit: { name: 'wrong_codes', value: rule.most, remaining: 0 },
  })
}
