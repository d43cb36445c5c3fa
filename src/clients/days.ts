import { parseIsoTime } from '../platform/calendar.ts'
import { Problem } from '../platform/problems.ts'

/** Throws Problem `invalid_field` for a text that is not a calendar date. */
export function checkDay(field: string, value: unknown): void {
  if (typeof value === 'string' && (value.length !== 10 || parseIsoTime(value) === undefined)) {
    throw new Problem('invalid_field', `The field ${field} must be a calendar date: 2026-03-12.`, { field })
  }
}
