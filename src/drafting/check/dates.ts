/** Days as people write them, with months in English, German, French and Spanish. */

/** What a text says of a day. A day without a month is none. */
export interface WrittenDay {
  readonly year?: number
  readonly month: number
  readonly day?: number
}

const languages = ['en', 'de', 'fr', 'es']

/** Each month by its names, without accents and full stops, in lower case. */
const months: ReadonlyMap<string, number> = new Map([
  ...languages.flatMap((language) =>
    (['long', 'short'] as const).flatMap((length) => {
      const format = new Intl.DateTimeFormat(language, { month: length, timeZone: 'UTC' })
      const nameOf = (month: number) => bare(format.format(new Date(Date.UTC(2000, month - 1))))
      return Array.from({ length: 12 }, (_, index) => [nameOf(index + 1), index + 1] as const)
    }),
  ),
  ['sept', 9],
])

function bare(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f.]/g, '')
    .toLowerCase()
}

const aName = String.raw`(?<name>\p{L}[\p{L}\p{M}]{2,})\.?`
const aDay = String.raw`(?<day>\d{1,2})`
const aYear = String.raw`(?<year>\d{4})(?!\d)`

const forms: readonly RegExp[] = [
  String.raw`(?<![\d.-])(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?!\d)`,
  String.raw`(?<!\d)${aDay}(?:st|nd|rd|th|er|\.)?\s{1,3}(?:(?:of|de)\s{1,3})?${aName}(?:,?\s{1,3}(?:de\s{1,3})?${aYear})?`,
  String.raw`(?<![\p{L}\p{M}])${aName}\s{1,3}${aDay}(?:st|nd|rd|th)?(?!\d)(?:,?\s{1,3}${aYear})?`,
  String.raw`(?<![\p{L}\p{M}])${aName}\s{1,3}(?:de\s{1,3})?${aYear}`,
  String.raw`(?<![\d.,])(?<first>\d{1,2})(?<mark>[./])(?<second>\d{1,2})\k<mark>${aYear}`,
].map((form) => new RegExp(form, 'gu'))

export interface FoundDay {
  readonly text: string
  readonly at: number
  /** One, or two if day and month could be meant the other way round. */
  readonly readings: readonly WrittenDay[]
}

/** The days in a text, in order. */
export function daysIn(text: string): FoundDay[] {
  const found: FoundDay[] = []
  let rest = text
  for (const form of forms) {
    const before = found.length
    for (const match of rest.matchAll(form)) {
      const readings = readingsOf(match.groups ?? {})
      if (readings.length > 0) found.push({ text: match[0].replace(/\.$/, ''), at: match.index, readings })
    }
    rest = withoutDays(rest, found.slice(before))
  }
  return found.toSorted((one, other) => one.at - other.at)
}

/** A text with spaces instead of these days, so that no part of them is read as something else. */
export function withoutDays(text: string, days: readonly FoundDay[]): string {
  let end = 0
  const pieces = days.map(({ at, text: day }) => {
    const piece = text.slice(end, at) + ' '.repeat(day.length)
    end = at + day.length
    return piece
  })
  return pieces.join('') + text.slice(end)
}

function readingsOf(groups: Readonly<Record<string, string | undefined>>): WrittenDay[] {
  const { name: named, mark } = groups
  const of = (month: number | undefined, dayOfMonth: number | undefined): WrittenDay[] => {
    const isDay = dayOfMonth === undefined || (dayOfMonth >= 1 && dayOfMonth <= 31)
    if (month === undefined || month < 1 || month > 12 || !isDay) return []
    const inYear = numberOf(groups['year'])
    return [
      { month, ...(inYear !== undefined && { year: inYear }), ...(dayOfMonth !== undefined && { day: dayOfMonth }) },
    ]
  }
  // In English, a month has a capital: "may 3 of us" is none.
  if (named !== undefined) return named === 'may' ? [] : of(months.get(bare(named)), numberOf(groups['day']))
  if (mark === undefined) return of(numberOf(groups['month']), numberOf(groups['day']))
  const [first, second] = [numberOf(groups['first']), numberOf(groups['second'])]
  const american = mark === '/' && first !== second ? of(first, second) : []
  return [...of(second, first), ...american]
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))

/** What has been read of days. */
export interface KnownDays {
  readonly add: (day: WrittenDay) => void
  /** Whether a day that was read says all that is claimed of it. Its year may have been read elsewhere: `isYear` tells. */
  readonly covers: (claimed: WrittenDay, isYear: (year: number) => boolean) => boolean
}

const unsaid: number | string = 'unsaid'

export function createKnownDays(): KnownDays {
  const known = new Set<string>()
  return {
    add({ year: inYear = unsaid, month, day: dayOfMonth }) {
      for (const each of [inYear, 'any']) known.add(keyOf(each, month, dayOfMonth)).add(keyOf(each, month))
    },
    covers({ year: inYear, month, day: dayOfMonth }, isYear) {
      if (known.has(keyOf(inYear ?? 'any', month, dayOfMonth))) return true
      return inYear !== undefined && isYear(inYear) && known.has(keyOf(unsaid, month, dayOfMonth))
    },
  }
}

const keyOf = (inYear: number | string, month: number, dayOfMonth?: number) => `${inYear} ${month} ${dayOfMonth}`
