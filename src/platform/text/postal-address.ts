import { Problem } from '../problems.ts'

/** The maximum number of lines of an address that the window of an envelope shows below the name. */
const mostLines = 8

/** A postal address without empty lines and spaces at the ends of lines; null if nothing remains. Throws Problem `invalid_field`. */
export function readAddress(text: string | null, field = 'address'): string | null {
  const lines = (text ?? '').split(/\r\n|[\r\n\u2028\u2029]/).flatMap((line) => line.trim() || [])
  if (lines.length <= mostLines) return lines.length === 0 ? null : lines.join('\n')
  throw new Problem('invalid_field', `The field ${field} must have at most ${mostLines} lines.`, { field })
}
