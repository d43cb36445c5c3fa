import { useSyncExternalStore } from 'react'

/** ms between updates: "1 min ago" is accurate to half a minute. */
const every = 30_000

let now = Date.now()

function watch(listener: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now()
    listener()
  }, every)
  return () => clearInterval(timer)
}

/** The current time (ms since 1970). Components that use it rerender as it passes. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now, Date.now)
}
