import { dayAt, instantOf } from '../../zone.ts'

/** The instant at which a day starts in the firm's time zone; '' for what is not a day. */
export function beginOf(day: string): string {
  const begin = instantOf(`${day}T00:00`)
  return begin === undefined ? '' : new Date(begin).toISOString()
}

/** The instant at which a day ends in the firm's time zone. */
export function endOf(day: string): string {
  const begin = Date.parse(`${day}T00:00:00Z`)
  // A year beyond four digits sets no limit.
  return Number.isNaN(begin) ? '' : beginOf(new Date(begin + 86_400_000).toISOString().split('T', 1)[0] ?? '')
}

/** The firm's day of an instant; for an end, the day that ends then. */
export function dayOf(instant: string, isEnd = false): string {
  const time = Date.parse(instant) - (isEnd ? 1 : 0)
  return Number.isNaN(time) ? '' : dayAt(time)
}
