import { timeZoneName } from './locale.ts'

const day = 86_400_000

/**
 * The instant (ms since 1970) of a time in the firm's time zone, such as `2026-03-12T14:05`; undefined if it is not a
 * time. Of a time that occurs twice, the first; a time that the clocks skip moves forward.
 */
export function instantOf(local: string): number | undefined {
  const asUtc = /^[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d$/.test(local) ? Date.parse(`${local}:00Z`) : Number.NaN
  if (Number.isNaN(asUtc)) return undefined
  const ahead = [aheadAt(asUtc - day), aheadAt(asUtc + day)]
  const [first, last] = [asUtc - Math.max(...ahead), asUtc - Math.min(...ahead)]
  return first + aheadAt(first) === asUtc ? first : last
}

export const today = (): string => dayAt(Date.now())

/** The day of an instant in the firm's time zone: `2026-03-12`. */
export function dayAt(instant: number): string {
  return new Date(instant + aheadAt(instant)).toISOString().slice(0, 10)
}

/** ms that the clocks of the firm are ahead of UTC. */
function aheadAt(instant: number): number {
  const parts = new Map(
    clock()
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return shown - Math.floor(instant / 1000) * 1000
}

function clock(): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB-u-ca-iso8601', {
    timeZone: timeZoneName(),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
}
