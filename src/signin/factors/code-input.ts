import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { Problem } from '../../platform/problems.ts'

const Input = Type.Object({ code: Type.String({ maxLength: 100 }) })

/** The code of a submission, without the spaces and dashes that make it readable. Empty if there is none. */
export function readCode(input: unknown): string {
  return Value.Check(Input, input) ? input.code.replace(/[\s-]/g, '') : ''
}

/** The same for every reason, so that a guess learns nothing. */
export function wrongCode(): Problem {
  return new Problem('sign_in_failed', 'This code is wrong, has expired, or was used before. Try the next one.')
}
