import { useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { keep, type Kept } from '../kept.ts'

/** ms between a change and its storage. Reading a long text takes long. */
const pause = 1000

interface KeepingNeeds {
  /** The text, with what is being typed; undefined if nothing is unsaved. */
  readonly current: () => Kept | undefined
  /** Whether leaving the form now would lose text that nobody has discarded. */
  readonly isLosing: () => boolean
}

/**
 * Keeps the unsaved text of a form until it is saved or discarded: a reload, a crash of the browser or a lost session ends the page
 * before that, and so does a move to another page for what is typed while that page loads. Returns a function to call for changes
 * that do not render the form again.
 */
export function useKeeping(form: string | undefined, { current, isLosing }: KeepingNeeds): () => void {
  const latest = useRef(current)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const schedule = useCallback(() => {
    if (form === undefined) return
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      keep(form, latest.current())
    }, pause)
  }, [form])
  useEffect(() => {
    latest.current = current
    schedule()
  })
  // A layout effect ends while the editor can still be read, and before the form is no longer marked as unsaved.
  useLayoutEffect(() => {
    if (form === undefined) return undefined
    const flush = () => keep(form, latest.current())
    addEventListener('pagehide', flush)
    return () => {
      removeEventListener('pagehide', flush)
      clearTimeout(timer.current)
      timer.current = undefined
      keep(form, isLosing() ? latest.current() : undefined)
    }
  }, [form, isLosing])
  return schedule
}
