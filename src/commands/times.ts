const units = new Map(Object.entries({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }))
const longest = 36_500 * 86_400_000

/** Parses `24h` to ms. Throws a RangeError. */
export function parseSpan(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,10})([smhd])$/.exec(text) ?? []
  const span = Number(amount) * (units.get(unit) ?? Number.NaN)
  if (!(span <= longest)) throw new RangeError('must be a duration such as 30m, 24h or 90d')
  return span
}

/** Parses a date, a date and time with a zone, or a duration from now. Throws a RangeError. */
export function parseTimeOption(text: string): Date {
  if (/^\d+[a-z]$/.test(text)) return new Date(Date.now() + parseSpan(text))
  const time = readTime(text)
  if (time === undefined) {
    throw new RangeError(
      'must be a date such as 2030-01-31, a time such as 2030-01-31T12:00:00Z, or a duration such as 90d',
    )
  }
  return time
}

/** Parses a date, or a date and time with a zone. Throws a RangeError. */
export function parseMoment(text: string): Date {
  const time = readTime(text)
  if (time !== undefined) return time
  throw new RangeError('must be a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z')
}

/** Parses the end of a period: a date includes the whole day. Throws a RangeError. */
export function parseEnd(text: string): Date {
  const time = parseMoment(text)
  return isDay(text) ? new Date(time.getTime() + 86_400_000) : time
}

/** Checks a date in UTC. Throws a RangeError. */
export function parseDay(text: string): string {
  if (!isDay(text) || readTime(text) === undefined) throw new RangeError('must be a date such as 2030-01-31')
  return text
}

/** PostgreSQL has no year 0. */
function isDay(text: string): boolean {
  return /^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)
}

/** Requires a zone, without which a time depends on the machine. A date alone is midnight in UTC. */
function readTime(text: string): Date | undefined {
  if (!isDay(text.slice(0, 10)) || !/^.{10}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) {
    return undefined
  }
  const time = new Date(text)
  // JavaScript reads 31 February as 3 March.
  const day = Number(text.slice(8, 10))
  const lastOfMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate()
  return Number.isNaN(time.getTime()) || day > lastOfMonth ? undefined : time
}
