import { startOfDay } from '../../platform/text/calendar.ts'
import type { Config } from '../../platform/config/config.ts'

const units = new Map(Object.entries({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }))
const longest = 36_500 * 86_400_000

/** Parses `24h` to ms. Throws a RangeError. */
export function parseSpan(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,10})([smhd])$/.exec(text) ?? []
  const span = Number(amount) * (units.get(unit) ?? Number.NaN)
  if (!(span <= longest)) throw new RangeError('must be a duration such as 30m, 24h or 90d')
  return span
}

/** An instant, or a day of the firm's time zone. */
export type InstantOrDay = Date | Temporal.PlainDate

/** Parses a date, a date and time with a zone, or a duration from now. Throws a RangeError. */
export function parseTimeOption(text: string): InstantOrDay {
  if (/^\d+[a-z]$/.test(text)) return new Date(Date.now() + parseSpan(text))
  const moment = readMoment(text)
  if (moment !== undefined) return moment
  throw new RangeError(
    'must be a date such as 2030-01-31, a time such as 2030-01-31T12:00:00Z, or a duration such as 90d',
  )
}

/** Parses a date, or a date and time with a zone. Throws a RangeError. */
export function parseMoment(text: string): InstantOrDay {
  const moment = readMoment(text)
  if (moment !== undefined) return moment
  throw new RangeError('must be a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z')
}

/** Checks a date in UTC. Throws a RangeError. */
export function parseDay(text: string): string {
  if (readMoment(text) instanceof Temporal.PlainDate) return text
  throw new RangeError('must be a date such as 2030-01-31')
}

interface ZoneNeeds {
  config(): Promise<{ readonly firm: Pick<Config['firm'], 'time_zone'> }>
}

/** The beginning of a period: a day begins at midnight in the firm's time zone. */
export async function beginningIn(context: ZoneNeeds, moment: InstantOrDay): Promise<Date> {
  if (moment instanceof Date) return moment
  return startOfDay(moment, (await context.config()).firm.time_zone)
}

/** The end of a period: a day belongs to it as a whole. */
export async function endIn(context: ZoneNeeds, moment: InstantOrDay): Promise<Date> {
  return beginningIn(context, moment instanceof Date ? moment : moment.add({ days: 1 }))
}

const shape = /^(?!0000)(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}(?::[0-5]\d(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Requires a zone of a time, without which it depends on the machine. PostgreSQL has no year 0. */
function readMoment(text: string): InstantOrDay | undefined {
  const [, day, time] = shape.exec(text) ?? []
  if (day === undefined) return undefined
  try {
    if (time === undefined) return Temporal.PlainDate.from(day)
    return new Date(Temporal.Instant.from(text).epochMilliseconds)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
