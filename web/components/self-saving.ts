import { useCallback, useEffect, useRef } from 'react'

/** ms without a change after which a form saves itself. */
const rest = 5000
/** The least ms between two such saves while the page stays open: each is a version and an audit event. */
const interval = 60_000

/**
 * Calls `save` once a form has rested after a change, and when its page is hidden or left. `save` decides whether there is something to
 * save. Returns a function to call for each change; without `save`, that does nothing.
 */
export function useSelfSaving(save: (() => Promise<void>) | undefined): () => void {
  const latest = useRef(save)
  const timer = useRef<ReturnType<typeof setInterval>>(undefined)
  const lastAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    latest.current = save
  })
  const schedule = useCallback(() => {
    if (latest.current === undefined) return
    clearInterval(timer.current)
    timer.current = setInterval(() => {
      if (performance.now() - lastAt.current < interval) return
      clearInterval(timer.current)
      lastAt.current = performance.now()
      void latest.current?.()
    }, rest)
  }, [])
  useEffect(() => {
    const saveHidden = () => document.visibilityState === 'hidden' && void latest.current?.()
    document.addEventListener('visibilitychange', saveHidden)
    return () => {
      document.removeEventListener('visibilitychange', saveHidden)
      clearInterval(timer.current)
    }
  }, [])
  return schedule
}
