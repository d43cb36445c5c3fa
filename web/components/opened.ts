import { startTransition, useEffect, useRef, useState } from 'react'

/**
 * A form that a button opens in its own place. Closing it returns the focus to the button, unless the focus has moved
 * elsewhere. `onTurn` is called when it opens and closes.
 */
export function useOpened(onTurn?: (isOpen: boolean) => void) {
  const [isOpen, setIsOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const wasOpen = useRef(false)
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) opener.current?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  function turn(next: boolean) {
    setIsOpen(next)
    onTurn?.(next)
  }
  return {
    isOpen,
    opener,
    open: () => turn(true),
    // Data fetched after saving is rendered in a transition. Closing earlier would show the old text for a moment.
    close: () => startTransition(() => turn(false)),
  }
}
