import { dateText, exactTime } from '../locale.ts'
import { ago } from './ago.ts'
import { useNow } from './clock.ts'

/** A relative time, with the exact time as its title. */
export function Ago({ time }: { readonly time: string }) {
  const now = useNow()
  return (
    <time dateTime={time} title={exactTime(time)}>
      {ago(new Date(time), now)}
    </time>
  )
}

/** A calendar date, independent of the time zone: `2026-03-12`. */
export function Day({ date }: { readonly date: string }) {
  return <time dateTime={date}>{dateText(date)}</time>
}
