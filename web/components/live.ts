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
    async function refresh(signal: AbortSignal) {
      try {
        const data = await read<Data>(address, signal)
        if (signal.aborted) return
        setLatest((before) => (before.first === first ? { first, data } : before))
        setState('live')
      } catch (error) {
        if (!signal.aborted) setState({ failure: reasonOf(error) })
      }
    }
    return whileThere({ work: refresh, pause, onPause: () => setState('paused') })
  }, [address, first, pause])

  return { data: latest.first === first ? latest.data : first, state }
}

interface Presence {
  /** Never throws. */
  readonly work: (signal: AbortSignal) => Promise<void>
  /** ms from the end of the work to its next beginning. */
  readonly pause: number
  readonly onPause?: () => void
}

/** Works again and again while the page is visible and someone is there. Returns how to stop. */
export function whileThere({ work, pause, onPause }: Presence): () => void {
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isWorking = false
  let seenAt = performance.now()
  const isWanted = () => !document.hidden && performance.now() - seenAt < presence

  async function workOnce() {
    timer = undefined
    if (!isWanted()) return onPause?.()
    isWorking = true
    await work(stop.signal)
    isWorking = false
    if (!stop.signal.aborted) timer = setTimeout(() => void workOnce(), pause)
  }
  function present() {
    seenAt = performance.now()
    if (timer === undefined && !isWorking && !document.hidden) timer = setTimeout(() => void workOnce(), 0)
  }

  timer = setTimeout(() => void workOnce(), pause)
  for (const event of ['pointermove', 'keydown', 'scroll', 'visibilitychange']) {
    addEventListener(event, present, { passive: true, signal: stop.signal })
  }
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
}
