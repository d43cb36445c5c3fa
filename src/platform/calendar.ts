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
