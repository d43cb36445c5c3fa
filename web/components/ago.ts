import { dayText } from '../locale.ts'

const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' })

const minute = 60_000
const hour = 60 * minute
const units = [
  { unit: 'day', length: 24 * hour, below: 7 * 24 * hour },
  { unit: 'hour', length: hour, below: 24 * hour },
  { unit: 'minute', length: minute, below: hour },
] as const

/** The time before `now` (ms): relative for a week, then the date. A future time is `just now`. */
export function ago(date: Date, now: number): string {
  const passed = now - date.getTime()
  if (passed < minute) return 'just now'
  const fit = units.findLast(({ below }) => passed < below)
  return fit ? relative.format(-Math.floor(passed / fit.length), fit.unit) : dayText(date)
}
