import { Problem } from '../problems.ts'

const shape = /^(?!0000)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::[0-5]\d(?:\.\d{1,3})?)?Z)?$/

/**
 * Parses a date or a time in UTC (ISO 8601). A date is its midnight. Undefined if it does not exist, such as 30 February,
 * or has the year 0, which PostgreSQL does not have.
 */
export function parseIsoTime(text: string): Date | undefined {
  if (!shape.test(text)) return undefined
  try {
    const instant = text.endsWith('Z')
      ? Temporal.Instant.from(text)
      : Temporal.PlainDate.from(text).toZonedDateTime('UTC').toInstant()
    return new Date(instant.epochMilliseconds)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * A time in a zone, with the offset from UTC (ISO 8601): `2026-03-12T15:05:09.000+01:00`. In the zone `UTC` it ends in `Z`.
 * Cut off after the unit.
 */
export function zonedTime(
  time: Date,
  timeZone: string,
  smallestUnit: 'minute' | 'second' | 'millisecond' = 'millisecond',
): string {
  const instant = Temporal.Instant.fromEpochMilliseconds(time.getTime())
  // Without a zone it reads no table of zones, and ends in `Z`.
  return instant.toString(timeZone === 'UTC' ? { smallestUnit } : { smallestUnit, timeZone })
}

/** The current day in a zone: `2026-03-12`. */
export function today(timeZone: string): string {
  return Temporal.Now.plainDateISO(timeZone).toString()
}

/** When a day begins in a zone. */
export function startOfDay(day: Temporal.PlainDate, timeZone: string): Date {
  return new Date(day.toZonedDateTime(timeZone).epochMilliseconds)
}

/** A day, `2026-03-12`. Throws Problem `invalid_field`. */
export function dayIn(text: string, field: string): string {
  if (text.length === 10 && parseIsoTime(text) !== undefined) return text
  throw new Problem('invalid_field', `The field ${field} must be a day, such as 2026-03-12.`, { field })
}
