import { Problem } from '../../platform/problems.ts'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** How many submissions an attempt allows, and how many of them are left. */
export interface Tries {
  readonly most: number
  readonly left: number
}

/** A wrong code, which the person may correct while there are tries left. */
export class WrongCode extends Problem {
  readonly #what: string
  readonly #advice: string

  constructor(what: string, advice: string) {
    super('sign_in_failed', `${what} ${advice}`)
    this.#what = what
    this.#advice = advice
  }

  /** The same refusal with the tries that are left. */
  after({ most, left }: Tries): Problem {
    const next = left === 0 ? 'No attempts are left. Start again.' : `${this.#advice} ${inWords(left)}`
    return new Problem('sign_in_failed', `${this.#what} ${next}`, {
      limit: { name: 'tries', value: most, remaining: left },
    })
  }
}

function inWords(left: number): string {
  return left === 1 ? 'One attempt is left.' : `${left} attempts are left.`
}

/** Runs the check of a submission. The refusal of a wrong code says how many tries are left. */
export async function countTries<Result>(tries: Tries, check: () => Promise<Result>): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    throw error instanceof WrongCode ? error.after(tries) : error
  }
}

const Input = Type.Object({ code: Type.String({ maxLength: 100 }) })

/** The code of a submission, without the spaces and dashes that make it readable. Empty if there is none. */
export function readCode(input: unknown): string {
  return Value.Check(Input, input) ? input.code.replace(/[\s-]/g, '') : ''
}

/** The same for every reason, so that a guess learns nothing. */
export function wrongCode(): WrongCode {
  return new WrongCode('This code is wrong, has expired, or was used before.', 'Try the next one.')
}
