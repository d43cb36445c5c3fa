import { useEffect, useRef } from 'react'

/** Moves the focus to the start of the page, from where Tab reaches everything. */
export function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** Moves the focus to the page if new data removed the focused element, such as the button of an action that is done. */
export function useFocusKept(data: unknown): void {
  const before = useRef(data)
  useEffect(() => {
    if (before.current !== data && document.activeElement === document.body) focusPage()
    before.current = data
  }, [data])
}
