const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' })

const minute = 60_000
const hour = 60 * minute
const units = [
  { unit: 'day', length: 24 * hour, below: 7 * 24 * hour },
  { unit: 'hour', length: hour, below: 24 * hour },
  { unit: 'minute', length: minute, below: hour },
] as const

/** How long ago something was, the exact time under the pointer. */
export function Ago({ time }: { readonly time: string }) {
  const date = new Date(time)
  return (
    <time dateTime={time} title={full.format(date)}>
      {ago(date)}
    </time>
  )
}

/** A day of the calendar, which is the same everywhere: `2026-03-12`. */
export function Day({ date }: { readonly date: string }) {
  return <time dateTime={date}>{dayOnly.format(new Date(date))}</time>
}

export function exactTime(time: string): string {
  return full.format(new Date(time))
}

/** To the second, for what is compared. */
export function preciseTime(time: string): string {
  return precise.format(new Date(time))
}

function ago(date: Date): string {
  const passed = Date.now() - date.getTime()
  if (passed < minute) return 'just now'
  const fit = units.findLast(({ below }) => passed < below)
  return fit ? relative.format(-Math.floor(passed / fit.length), fit.unit) : day.format(date)
}
