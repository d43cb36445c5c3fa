/** Dates of samples, relative to the day of the first start, so that the samples never look old. */

/** A part of the samples that is entered at a time. */
export interface SampleStep {
  readonly at: Date
  take(this: void): Promise<void>
}

const day = 86_400_000

/** The working day that lies `ago` days before `now`, as `2026-03-12`. */
export function dayBefore(now: Date, ago: number): string {
  return workday(now, -ago).toISOString().slice(0, 10)
}

/** The working day that lies `ahead` days after `now`. */
export function dayAfter(now: Date, ahead: number): string {
  return workday(now, ahead).toISOString().slice(0, 10)
}

/** A time on the working day that lies `ago` days before `now`, in minutes after nine o'clock. */
export function timeBefore(now: Date, ago: number, minutes: number): Date {
  return new Date(Date.parse(`${dayBefore(now, ago)}T09:00:00Z`) + minutes * 60_000)
}

/**
 * Returns a function that fills in the dates of a text that is `ago` days old: `{0}` is its own day, `{+14}` two weeks
 * later, `{-7}` a week before, as "12 March"; `{0y}` adds the year, `{0d}` the day of the week; `{Y}`, `{Y-1}` and
 * `{Y+1}` are years.
 */
export function datesIn(now: Date, ago: number): (text: string) => string {
  const year = workday(now, -ago).getUTCFullYear()
  return (text) =>
    text
      .trimEnd()
      .replaceAll(/\{Y([+-]\d+)?\}/g, (_, offset: string | undefined) => String(year + Number(offset ?? 0)))
      .replaceAll(/\{([+-]?\d+)([yd]?)\}/g, (_, offset: string, form: string) =>
        formatted(workday(now, Number(offset) - ago), form),
      )
}

function formatted(date: Date, form: string): string {
  return date.toLocaleDateString('en-GB', {
    timeZone: 'UTC',
    day: 'numeric',
    month: 'long',
    ...(form === 'y' && { year: 'numeric' }),
    ...(form === 'd' && { weekday: 'long' }),
  })
}

/** The day `days` days from now. Weekends are skipped: past days move to the Friday, later ones to the Monday. */
function workday(now: Date, offset: number): Date {
  const date = new Date(now.getTime() + offset * day)
  const weekend = { 6: [-1, 2], 0: [-2, 1] }[date.getUTCDay()]
  const shift = weekend?.[offset < 0 ? 0 : 1] ?? 0
  return new Date(date.getTime() + shift * day)
}
