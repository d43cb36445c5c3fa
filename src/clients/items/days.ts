import { parseIsoTime, today } from '../../platform/text/calendar.ts'
import { Problem } from '../../platform/problems.ts'

/** Throws Problem `invalid_field` for a text that is not a calendar date. */
export function checkDay(field: string, value: unknown): void {
  if (typeof value === 'string' && (value.length !== 10 || parseIsoTime(value) === undefined)) {
    throw new Problem('invalid_field', `The field ${field} must be a calendar date: 2026-03-12.`, { field })
  }
}

/** Earlier days are typing errors, such as the year 0026. */
const firstDay = '1900-01-01'

/** Checks the day of something that has happened. Throws Problem `invalid_field` also for a day after today in the zone. */
export function checkPastDay(field: string, value: unknown, timeZone: string): void {
  checkDay(field, value)
  const last = today(timeZone)
  if (typeof value !== 'string' || (value >= firstDay && value <= last)) return
  const reason = `The field ${field} must be a day from ${firstDay} to today, ${last} (time zone ${timeZone}).`
  throw new Problem('invalid_field', reason, { field })
}
