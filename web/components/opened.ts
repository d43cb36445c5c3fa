import { startTransition, useEffect, useRef, useState } from 'react'

/**
 * A form that a button opens in its place. Once it is closed, the keyboard goes on at the button, unless it has gone
 * elsewhere meanwhile. `onTurn` is told of both.
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
    // What was fetched again after saving is drawn in a transition: not before it, or the old text would show for a moment.
    close: () => startTransition(() => turn(false)),
  }
}
