import { numberText } from './locale.ts'

/**
 * The minutes of a duration as people type it: `90`, `1:30`, `1.5 h`, `1,5h`, `1 h 30 min` or `90 min`. Undefined for any other text,
 * and for a part of a minute.
 */
export function minutesIn(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  const clock = /^(\d{1,2}):([0-5]\d)(?: ?h)?$/.exec(trimmed)
  if (clock) return Number(clock[1]) * 60 + Number(clock[2])
  const parts = /^(?:(\d{1,4}(?:[.,]\d{1,2})?) ?h(?:ours?|rs?)?)? ?(?:(\d{1,4}) ?(?:m(?:in(?:utes?)?)?)?)?$/.exec(
    trimmed,
  )
  if (!parts || (parts[1] === undefined && parts[2] === undefined)) return undefined
  const minutes = Number((parts[1] ?? '0').replace(',', '.')) * 60 + Number(parts[2] ?? '0')
  return Number.isInteger(minutes) ? minutes : undefined
}

/** `1 h 20 min`, `1,480 h`. */
export function durationText(minutes: number): string {
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  return [hours > 0 && `${numberText(hours)} h`, (rest > 0 || hours === 0) && `${rest} min`].filter(Boolean).join(' ')
}
