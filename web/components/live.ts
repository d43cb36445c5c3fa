import { useEffect, useState } from 'react'
import { read, reasonOf } from '../api.ts'

/** Without a key or a movement for this long, nobody is there: the page must not keep the session alive. */
const presence = 300_000

export type LiveState = 'live' | 'paused' | { readonly failure: string }

/**
 * The data of a URL, read again every `pause` ms while the page is visible and someone is there; never if `pause` is null. `first`
 * came with the page.
 */
export function useLive<Data>(
  address: string,
  first: Data,
  pause: number | null = 1000,
): { readonly data: Data; readonly state: LiveState } {
  const [latest, setLatest] = useState({ first, data: first })
  const [state, setState] = useState<LiveState>('live')
  // Another page was loaded.
  if (latest.first !== first) setLatest({ first, data: first })

  useEffect(() => {
    if (pause === null) return undefined
    const between = pause
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isReading = false
    let seenAt = performance.now()
    const isWanted = () => !document.hidden && performance.now() - seenAt < presence

    async function refresh() {
      timer = undefined
      if (!isWanted()) return setState('paused')
      isReading = true
      try {
        const data = await read<Data>(address, stop.signal)
        if (stop.signal.aborted) return
        setLatest((before) => (before.first === first ? { first, data } : before))
        setState('live')
      } catch (error) {
        if (stop.signal.aborted) return
        setState({ failure: reasonOf(error) })
      } finally {
        isReading = false
      }
      timer = setTimeout(() => void refresh(), between)
    }
    function present() {
      seenAt = performance.now()
      if (timer === undefined && !isReading && !document.hidden) timer = setTimeout(() => void refresh(), 0)
    }

    timer = setTimeout(() => void refresh(), between)
    for (const event of ['pointermove', 'keydown', 'scroll', 'visibilitychange']) {
      addEventListener(event, present, { passive: true, signal: stop.signal })
    }
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [address, first, pause])

  return { data: latest.first === first ? latest.data : first, state }
}
