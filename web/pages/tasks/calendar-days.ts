/** Arithmetic on days that are written `2026-12-07`. */

const length = 86_400_000

const utc = (day: string): Date => new Date(`${day}T00:00:00Z`)
const written = (date: Date): string => date.toISOString().slice(0, 10)

export function addDays(day: string, days: number): string {
  return written(new Date(utc(day).getTime() + days * length))
}

/** 1 for Monday to 7 for Sunday (ISO 8601). */
export function weekdayOf(day: string): number {
  return utc(day).getUTCDay() || 7
}

/** Undefined if the calendar has no such day. Months count from 1. */
export function dayOf(year: number, month: number, date: number): string | undefined {
  const found = new Date(Date.UTC(year, month - 1, date))
  return found.getUTCMonth() === month - 1 && found.getUTCDate() === date ? written(found) : undefined
}

/** The last day of the month that is so many months after that of a day. */
export function lastOfMonth(day: string, monthsLater = 0): string {
  const date = utc(day)
  return written(new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater + 1, 0)))
}

/** The same date so many months later, or the last day of a shorter month. */
export function addMonths(day: string, months: number): string {
  const last = lastOfMonth(day, months)
  const same = last.slice(0, 8) + day.slice(8)
  return same < last ? same : last
}
