import { ago } from './ago.ts'
import { useNow } from './clock.ts'

const precise = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })
const dayOnly = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

/** A relative time, with the exact time as its title. */
export function Ago({ time }: { readonly time: string }) {
  const now = useNow()
  const date = new Date(time)
  return (
    <time dateTime={time} title={full.format(date)}>
      {ago(date, now)}
    </time>
  )
}

/** A calendar date, independent of the time zone: `2026-03-12`. */
export function Day({ date }: { readonly date: string }) {
  return <time dateTime={date}>{dayOnly.format(new Date(date))}</time>
}

export function exactTime(time: string): string {
  return full.format(new Date(time))
}

/** A time to the second, for comparing. */
export function preciseTime(time: string): string {
  return precise.format(new Date(time))
}
