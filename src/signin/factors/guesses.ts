import { byService } from '../../access/actor.ts'
import type { Audit } from '../../access/audit.ts'
import type { Mailer } from '../../mail/mailer.ts'
import type { Identities } from '../../people/identities.ts'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import type { Throttle } from '../throttle.ts'

const window = 15 * 60_000
/** Wrong codes of one person, of all their factors, in all their browsers. */
const rule = { kind: 'second_factor', most: 5, window }
/** One mail about it. */
const mailRule = { kind: 'second_factor_mail', most: 1, window }

/** Limits the guessing of short codes. Passkeys are not affected. */
export interface Guesses {
  /**
   * Runs a check, which throws if the code is wrong. Throws Problem `too_many_sign_ins` without running it after too many
   * wrong codes of the person. A right one starts the count again.
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
        if ((await throttle.take(mailRule, personId)) === 0) await report(needs, personId)
        throw tooManyCodes(wait)
      }
      const result = await check()
      await throttle.succeed(rule.kind, personId)
      return result
    },
  } satisfies Guesses)
}

async function report({ database, audit, identities, mailer }: GuessNeeds, personId: string): Promise<void> {
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
