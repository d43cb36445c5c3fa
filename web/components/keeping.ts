import { useCallback, useEffect, useRef } from 'react'
import { keep, type Kept } from '../kept.ts'

/** ms between a change and its storage. Reading a long text takes long. */
const pause = 1000

/**
 * Keeps the unsaved text of a form until it is saved or the form closes: a reload, a crash of the browser or a lost session ends
 * the page without closing the form. `current` returns the text, with what is being typed; undefined if nothing is unsaved.
 * Returns a function to call for changes that do not render the form again.
 */
export function useKeeping(form: string | undefined, current: () => Kept | undefined): () => void {
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
  useEffect(() => {
    if (form === undefined) return undefined
    const flush = () => keep(form, latest.current())
    addEventListener('pagehide', flush)
    return () => {
      removeEventListener('pagehide', flush)
      clearTimeout(timer.current)
      timer.current = undefined
      keep(form, undefined)
    }
  }, [form])
  return schedule
}
