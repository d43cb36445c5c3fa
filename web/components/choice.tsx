import { Select, type SelectProps } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { matchingOptions } from './matching-options.ts'

interface ChoiceProps extends Omit<SelectProps, 'value' | 'onChange' | 'data'> {
  readonly data: readonly { readonly value: string; readonly label: string }[]
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A choice from a list that may be long. What is typed finds parts of the names in every spelling; the focus selects the text to be replaced. */
export function Choice({ data, value, onChange, ...props }: ChoiceProps) {
  // Without a choice for it, nothing is chosen yet.
  const isKnown = value !== '' || data.some((each) => each.value === '')
  return (
    <Select
      nothingFoundMessage="Nothing has this name"
      {...props}
      size="sm"
      searchable
      selectFirstOptionOnChange
      selectFirstOptionOnDropdownOpen
      // It opens for what is typed, the down arrow and a click. In a dialog, the field has the focus from the start.
      openOnFocus={false}
      allowDeselect={false}
      filter={matchingOptions}
      maxDropdownHeight={320}
      data={[...data]}
      value={isKnown ? value : null}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      onFocus={select}
      onKeyDown={keepFormOpen}
      onClick={select}
    />
  )
}

/** Enter while the list is open is about the list, also if nothing in it was found. */
function keepFormOpen(event: KeyboardEvent<HTMLInputElement>) {
  if (event.key === 'Enter' && event.currentTarget.getAttribute('aria-expanded') === 'true') event.preventDefault()
}

function select({ currentTarget }: { readonly currentTarget: HTMLInputElement }) {
  currentTarget.select()
}
