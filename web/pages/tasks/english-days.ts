import { addDays, addMonths, dayOf, lastOfMonth, weekdayOf } from './calendar-days.ts'
import type { DayWords } from './deadline-in.ts'

type Groups = Readonly<Record<string, string | undefined>>

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const numbers = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']

/** Not “stood by Monday’s offer”, “came by Monday”. */
const by = String.raw`\b(?<!\b(?:st[ao]nds?|stood|standing|came|comes?|drops?|dropped|stops?|stopped) )(?<by>by|until|till|before|no later than|not later than) `
const time = String.raw`(?:(?:noon|midday|\d{1,2}(?::\d\d)? ?(?:am|pm)|\d{1,2}:\d\d) (?:on )?)?`
const weekday = `(?:${weekdays.join('|')}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)`
const onWeekday = String.raw`(?:(?:the )?${weekday},? )?`
const month = String.raw`(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`
const date = String.raw`(?<date>\d{1,2})(?:st|nd|rd|th)?`
const year = String.raw`(?:,? (?<year>20\d\d)\b)?`
const end = '(?:the )?(?:very )?end of '
/** Not “by Friday’s decision”, “by Sunday-school teachers”. */
const whole = String.raw`(?!['’]s|[\w-])`

const phrase = (pattern: string, day: (groups: Groups, today: string) => string | undefined) => ({
  pattern: new RegExp(pattern, 'gi'),
  dayOf: day,
})

/** A day in a phrase that begins with `by`. “Before Monday” is by the day before. */
const phraseBy = (pattern: string, day: (groups: Groups, today: string) => string | undefined) =>
  phrase(by + pattern + whole, (groups, today) => {
    const found = day(groups, today)
    return found !== undefined && groups['by']?.toLowerCase() === 'before' ? addDays(found, -1) : found
  })

export const englishDays: DayWords = {
  phrases: [
    phraseBy(String.raw`${time}(?<year>\d{4})-(?<number>\d\d)-(?<date>\d\d)`, inNumbers),
    phraseBy(String.raw`${time}${onWeekday}(?<date>\d{1,2})\.(?<number>\d{1,2})\.(?<year>20\d\d)`, inNumbers),
    phraseBy(`${time}${onWeekday}(?:the )?${date} (?:of )?${month}${year}`, ofMonth),
    phraseBy(String.raw`${time}${onWeekday}${month} ${date}\b${year}`, ofMonth),
    // Not “by the 12th floor”.
    phraseBy(
      String.raw`${time}${onWeekday}the (?<date>\d{1,2})(?:st|nd|rd|th)(?= ?(?:$|[,.;:!?)])| at the latest)`,
      ({ date: number }, today) => ofSomeMonth(Number(number), today),
    ),
    phraseBy(`${end}${month}${year}`, (groups, today) => {
      const first = ofMonth({ ...groups, date: '1' }, `${today.slice(0, 8)}01`)
      return first === undefined ? undefined : lastOfMonth(first)
    }),
    phraseBy(`${end}(?<which>the |this |next )?(?<unit>week|month|year)`, ({ which, unit }, today) =>
      endOf(unit?.toLowerCase(), which?.toLowerCase() === 'next ' ? 1 : 0, today),
    ),
    phraseBy('(?:the )?month[ -]end', (_groups, today) => lastOfMonth(today)),
    phraseBy(`${end}(?:the |this )?(?:business |working )?day`, (_groups, today) => today),
    phraseBy(
      `${time}(?:${end})?(?<near>today|tonight|this evening|tomorrow|the day after tomorrow)`,
      ({ near = '' }, today) => addDays(today, near.includes('after') ? 2 : near.toLowerCase() === 'tomorrow' ? 1 : 0),
    ),
    phraseBy(`${time}next (?<name>${weekday})`, inNextWeek),
    phraseBy(`${time}(?:the |this |coming |this coming )?(?<name>${weekday})`, nextWeekday),
    // Not “since next Friday”, nor “the Friday after next”.
    phrase(String.raw`\b(?<!\b(?:since|from|after|than|until|for) )next (?<name>${weekday})${whole}`, inNextWeek),
    phrase(
      String.raw`\bwithin (?:the next )?(?<count>an?|\d{1,2}|${numbers.join('|')}) (?<working>working |business )?(?<unit>day|week|fortnight|month)s?${whole}`,
      within,
    ),
  ],
  quotedFrom: /^\s*(?:-{2,}\s*(?:original|forwarded) message|on\b.{5,120}\bwrote:\s*$|from:\s.*@)/i,
}

function inNumbers({ year: inYear, number, date: on }: Groups): string | undefined {
  return dayOf(Number(inYear), Number(number), Number(on))
}

/** Of a date without a year, the next one. It is past if that is more than half a year away. */
function ofMonth({ date: on, month: name = '', year: inYear }: Groups, today: string): string | undefined {
  const number = months.indexOf(name.slice(0, 3).toLowerCase()) + 1
  if (inYear !== undefined) return dayOf(Number(inYear), number, Number(on))
  const thisYear = Number(today.slice(0, 4))
  const [day, nextYears] = [dayOf(thisYear, number, Number(on)), dayOf(thisYear + 1, number, Number(on))]
  if (day !== undefined && day >= today) return day
  return nextYears !== undefined && nextYears <= addMonths(today, 6) ? nextYears : undefined
}

/** The next day with this number that a month has. */
function ofSomeMonth(number: number, today: string): string | undefined {
  const candidates = [0, 1, 2].map((later) => {
    const [inYear, inMonth] = addMonths(`${today.slice(0, 8)}01`, later).split('-')
    return dayOf(Number(inYear), Number(inMonth), number)
  })
  return candidates.find((day) => day !== undefined && day >= today)
}

/** For a week, its Friday: that is when it ends at work. */
function endOf(unit: string | undefined, later: number, today: string): string {
  if (unit === 'month') return lastOfMonth(today, later)
  if (unit === 'year') return `${Number(today.slice(0, 4)) + later}-12-31`
  return addDays(today, 5 - weekdayOf(today) + 7 * later)
}

/** 1 for Monday to 7 for Sunday. Undefined for another word: “sun” is none of them, “Sun” is. */
function numberOf(name = ''): number | undefined {
  if (name.length < 6 && name === name.toLowerCase()) return undefined
  return weekdays.findIndex((each) => each.startsWith(name.slice(0, 3).toLowerCase())) + 1
}

/** The first day with this name after today. */
function nextWeekday({ name }: Groups, today: string): string | undefined {
  const number = numberOf(name)
  return number === undefined ? undefined : addDays(today, ((number - weekdayOf(today) + 6) % 7) + 1)
}

/** The day with this name in the week that begins with the next Monday. */
function inNextWeek({ name }: Groups, today: string): string | undefined {
  const number = numberOf(name)
  return number === undefined ? undefined : addDays(today, number - weekdayOf(today) + 7)
}

function within({ count = '', working, unit = '' }: Groups, today: string): string {
  const many = numbers.indexOf(count.toLowerCase()) + 1 || (/^an?$/i.test(count) ? 1 : Number(count))
  switch (unit.toLowerCase()) {
    case 'month':
      return addMonths(today, many)
    case 'fortnight':
      return addDays(today, 14 * many)
    case 'week':
      return addDays(today, 7 * many)
    default:
      return working === undefined ? addDays(today, many) : addWorkingDays(today, many)
  }
}

/** Monday to Friday are working days. Holidays are not known. */
function addWorkingDays(today: string, days: number): string {
  let [day, left] = [today, days]
  while (left > 0) {
    day = addDays(day, 1)
    if (weekdayOf(day) < 6) left--
  }
  return day
}
