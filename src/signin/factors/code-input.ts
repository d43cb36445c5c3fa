import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { WrongCode } from '../attempt/wrong-code.ts'

const Input = Type.Object({ code: Type.String({ maxLength: 100 }) })

/** The code of a submission, without the spaces and dashes that make it readable. Empty if there is none. */
export function readCode(input: unknown): string {
  return Value.Check(Input, input) ? input.code.replace(/[\s-]/g, '') : ''
}

/** The same for every reason, so that a guess learns nothing. */
export function wrongCode(): WrongCode {
  return new WrongCode('This code is wrong, has expired, or was used before.', 'Try the next one.')
}
