import { useSyncExternalStore } from 'react'

/** ms between looks at the clock: what says "1 min ago" is right to half a minute. */
const every = 30_000

let now = Date.now()

function watch(listener: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now()
    listener()
  }, every)
  return () => clearInterval(timer)
}

/** The time, ms since 1970; what is drawn with it is drawn again as it passes. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now)
}
