import { Kbd, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  /** The current query. */
  readonly value: string
  readonly onSearch: (text: string) => void
  /** Called for the down arrow, to move the focus to the results. */
  readonly onDown: () => void
  readonly className?: string | undefined
  /** Whether the field gets the focus when the page opens. */
  readonly isFirst?: boolean
}

/** The debounce time in ms. */
const pause = 120

/** Searches during typing. Escape clears the field, the down arrow moves to the results. */
export function SearchField(props: SearchFieldProps) {
  const { label, placeholder, value, onSearch, onDown, className, isFirst = false } = props
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) field.current?.focus()
  }, [isFirst])
  const [text, setText] = useState(value)
  const timer = useRef<number>(undefined)
  const lastQuery = useRef(value)
  useEffect(() => {
    // Something else changed the URL: the back button, or a reset.
    if (value !== lastQuery.current) setText(value)
    lastQuery.current = value
  }, [value])

  function search(next: string) {
    setText(next)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      lastQuery.current = next.trim()
      onSearch(lastQuery.current)
    }, pause)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'ArrowDown') {
      event.preventDefault()
      onDown()
    }
    if (event.key === 'Escape' && text !== '') {
      event.preventDefault()
      search('')
    }
  }

  return (
    <TextInput
      ref={field}
      type="search"
      className={className}
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={text === '' && <Kbd size="xs">/</Kbd>}
      rightSectionPointerEvents="none"
      value={text}
      onChange={({ currentTarget }) => search(currentTarget.value)}
      onKeyDown={onKeyDown}
      maxLength={200}
    />
  )
}
