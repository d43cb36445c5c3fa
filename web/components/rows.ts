import { useEffect, type KeyboardEvent, type RefObject } from 'react'
import { NavigationType, useNavigationType } from 'react-router'
import { useKey } from './keys.ts'

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

/**
 * Moves the focus from row to row of a list: by j and k on the whole page, and by the arrows with the function that it
 * returns. `onEnd` is called when an arrow leads beyond the list.
 */
export function useRowKeys(list: RefObject<HTMLElement | null>, onEnd?: (step: number) => void) {
  useKey('j', () => moveRow(list.current, 1))
  useKey('k', () => moveRow(list.current, -1))
  return (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    if (!moveRow(list.current, step)) onEnd?.(step)
  }
}

/** Returns whether there is such a row. */
function moveRow(list: HTMLElement | null, step: number): boolean {
  const rows = [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
  const at = rows.indexOf(focusedRow() ?? document.body)
  const next = at < 0 ? rows[0] : rows[at + step]
  next?.focus()
  return next !== undefined
}

/** The row that has the focus, in it or in another control of the same row of a table. */
export function focusedRow(): HTMLElement | null {
  const focused = document.activeElement
  return focused?.closest<HTMLElement>('[data-row]') ?? focused?.closest('tr')?.querySelector('[data-row]') ?? null
}
