import { parseIsoTime } from '../platform/text/calendar.ts'
import { Problem } from '../platform/problems.ts'

/** Days in UTC as `YYYY-MM-DD`, both inclusive. */
export interface DaySpan {
  readonly from: string
  readonly to: string
}

/** The days of a report without a span, today included. */
const defaultDays = 30
const mostDays = 3660
const dayLength = 86_400_000

/** The span of a query: by default 30 days that end today. Throws Problem `invalid_field`. */
export function spanOf(query: { readonly from?: string | undefined; readonly to?: string | undefined }): DaySpan {
  const to = dayOf('to', query.to) ?? dayAt(Date.now())
  const from = dayOf('from', query.from) ?? plusDays(to, 1 - defaultDays)
  if (from > to) throw new Problem('invalid_field', 'The field from must not be after to.', { field: 'from' })
  if (lengthOf({ from, to }) > mostDays) {
    throw new Problem('invalid_field', `A report can cover at most ${mostDays} days.`, { field: 'from' })
  }
  return { from, to }
}

/** In days. */
function lengthOf({ from, to }: DaySpan): number {
  return (Date.parse(to) - Date.parse(from)) / dayLength + 1
}

/** The span of the same length that ends the day before. */
export function previousSpan(span: DaySpan): DaySpan {
  return { from: plusDays(span.from, -lengthOf(span)), to: plusDays(span.from, -1) }
}

/** Each day of a span. */
export function daysOf(span: DaySpan): string[] {
  return Array.from({ length: lengthOf(span) }, (_, index) => plusDays(span.from, index))
}

function dayOf(field: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (text.length === 10 && text >= '1900' && parseIsoTime(text) !== undefined) return text
  throw new Problem('invalid_field', `The field ${field} must be a day, such as 2026-03-12.`, { field })
}

const plusDays = (day: string, days: number): string => dayAt(Date.parse(day) + days * dayLength)
const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10)
