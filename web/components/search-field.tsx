import { Kbd, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  /** What is searched for now. */
  readonly value: string
  readonly onSearch: (text: string) => void
  /** The arrow down: into what was found. */
  readonly onDown: () => void
  readonly className?: string | undefined
  /** Whether it is what the page is for, and so where the keyboard begins. */
  readonly isFirst?: boolean
}

/** ms without a key after which the search begins: none is lost, and not every letter is one. */
const pause = 120

/** Searches as one types. Escape empties it, the arrow down goes to what was found. */
export function SearchField(props: SearchFieldProps) {
  const { label, placeholder, value, onSearch, onDown, className, isFirst = false } = props
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) field.current?.focus()
  }, [isFirst])
  const [text, setText] = useState(value)
  const timer = useRef<number>(undefined)
  const asked = useRef(value)
  useEffect(() => {
    // The address was changed by something else: the way back, or a reset.
    if (value !== asked.current) setText(value)
    asked.current = value
  }, [value])

  function search(next: string) {
    setText(next)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => {
      asked.current = next.trim()
      onSearch(asked.current)
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
