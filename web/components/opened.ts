import { keptOf } from '../kept.ts'
import { startTransition, useEffect, useRef, useState } from 'react'

interface OpenedOptions {
  /** The name of the form's unsaved text (`keptAs`): with such text, the form is open from the start. */
  readonly keptAs?: string
  /** Called when it opens and closes. */
  readonly onTurn?: (isOpen: boolean) => void
}

/**
 * A form that a button opens in its own place. Closing it returns the focus to the button, unless the focus has moved
 * elsewhere.
 */
export function useOpened({ keptAs, onTurn }: OpenedOptions = {}) {
  const [isOpen, setIsOpen] = useState(() => keptAs !== undefined && keptOf(keptAs) !== undefined)
  const turned = useRef(onTurn)
  useEffect(() => {
    turned.current = onTurn
  })
  const startedOpen = useRef(isOpen)
  useEffect(() => {
    if (startedOpen.current) turned.current?.(true)
  }, [])
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
