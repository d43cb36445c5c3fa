import { useEffect, useRef, useState } from 'react'
import { useMatches } from 'react-router'

/** Moves the focus to the start of the page, from where Tab reaches everything. */
function focusPage(): void {
  document.getElementById('main')?.focus({ preventScroll: true })
}

/** Within this time in ms, a closing dialog has returned the focus. */
export const settled = 150

export const isFocusLost = (): boolean => document.activeElement === document.body

/** Moves the focus to the page if new data removed the focused element, such as the button of an action that is done. */
export function useFocusKept(): void {
  // A new array whenever a page gets new data.
  const data = useMatches()
  const before = useRef(data)
  const focused = useRef<EventTarget>(null)
  useEffect(() => {
    const note = ({ target }: FocusEvent) => {
      focused.current = target
    }
    document.addEventListener('focusin', note)
    return () => document.removeEventListener('focusin', note)
  }, [])
  useEffect(() => {
    if (before.current === data) return undefined
    before.current = data
    const timer = setTimeout(() => {
      const last = focused.current
      if (isFocusLost() && last instanceof Element && !last.isConnected) focusPage()
    }, settled)
    return () => clearTimeout(timer)
  }, [data])
}

/** For a dialog that is open while it is rendered: returns the focus to what opened it, or to the page if that is gone. */
export function useFocusReturned(): void {
  const [opener] = useState(openerNow)
  useEffect(() => () => void setTimeout(() => returnTo(opener)), [opener])
}

/** What has the focus. Of an item of a menu, which closes: the button of the menu. */
function openerNow(): Element | null {
  const focused = document.activeElement
  const menu = focused?.closest('[role=menu]')
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : focused
}

function returnTo(opener: Element | null): void {
  // On a slow machine, new data may already have moved the focus to the page: see useFocusKept.
  if (!isFocusLost() && document.activeElement?.id !== 'main') return
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  else focusPage()
}
