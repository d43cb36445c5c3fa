import { useEffect, useRef, useState } from 'react'

/** Moves the focus to the start of the page, from where Tab reaches everything. */
function focusPage(): void {
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
  if (document.activeElement !== document.body) return
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  else focusPage()
}
