import { useEffect, useState } from 'preact/hooks'

/** Whole seconds until a time in ms since 1970; 0 once it has passed. */
export function useSecondsUntil(time: number | undefined): number {
  const [, tick] = useState(0)
  const left = secondsUntil(time)
  useEffect(() => {
    if (secondsUntil(time) === 0) return undefined
    const timer = setInterval(() => {
      tick((count) => count + 1)
      if (secondsUntil(time) === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [time])
  return left
}

function secondsUntil(time: number | undefined): number {
  return time === undefined ? 0 : Math.max(0, Math.ceil((time - Date.now()) / 1000))
}

/** Such as "40 s" or "3 min". */
export function span(seconds: number): string {
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
}
