import { parseIsoTime } from '../platform/text/calendar.ts'
import { Problem } from '../platform/problems.ts'

/** A day, `2026-03-12`. Throws Problem `invalid_field`. */
export function dayIn(text: string, field: string): string {
  if (text.length === 10 && parseIsoTime(text) !== undefined) return text
  throw new Problem('invalid_field', `The field ${field} must be a day, such as 2026-03-12.`, { field })
}
