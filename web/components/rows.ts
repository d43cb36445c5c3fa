import { useEffect } from 'react'
import { NavigationType, useNavigationType } from 'react-router'

/** The URL of the row opened last. */
let opened: string | undefined

/** Focuses the row opened last when the person returns to a list. */
export function useRowsAgain(): void {
  const type = useNavigationType()
  useEffect(() => {
    if (type === NavigationType.Pop && opened !== undefined) {
      const row = document.querySelector<HTMLElement>(`[data-row][href="${CSS.escape(opened)}"]`)
      row?.focus({ preventScroll: true })
    }
    function note({ target }: MouseEvent) {
      const row = target instanceof Element ? target.closest('[data-row]') : null
      opened = row?.getAttribute('href') ?? opened
    }
    addEventListener('click', note, { capture: true })
    return () => removeEventListener('click', note, { capture: true })
  }, [type])
}
