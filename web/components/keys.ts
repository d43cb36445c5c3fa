import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import { readSetting, writeSetting } from '../settings.ts'
import { useRole } from './role.ts'

/** Whether single-key shortcuts are on. People who use speech input can turn them off (WCAG 2.1.4). */
export function areKeysOn(): boolean {
  return readSetting('keys') !== 'off'
}

export function turnKeys(on: boolean): void {
  writeSetting('keys', on ? 'on' : 'off')
}

/** Calls `act` for a key pressed outside fields and dialogs. */
export function useKey(key: string, act: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    function listen(event: KeyboardEvent) {
      const { target } = event
      const isTyping =
        target instanceof Element &&
        target.closest(
          'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=dialog], [role=menu]',
        )
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
      if (event.key === key && isPlain && !isTyping && !event.defaultPrevented && areKeysOn()) act(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [key, act])
}

/** `/` moves to the search field of the page, or to the search page if there is none. Developers have no records to search. */
export function useSearchKey(): void {
  const navigate = useNavigate()
  const isDeveloper = useRole() === 'developer'
  useKey('/', (event) => {
    event.preventDefault()
    const field = document.querySelector<HTMLInputElement>('main input[type=search]')
    if (field) field.select()
    else if (!isDeveloper) void navigate('/search')
  })
}
