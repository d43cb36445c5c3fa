import type { SelectProps } from '@mantine/core'
import { Choice } from './choice.tsx'

export interface PersonChoiceProps extends Pick<
  SelectProps,
  'label' | 'aria-label' | 'className' | 'disabled' | 'readOnly' | 'error'
> {
  readonly 'data-field'?: string
  readonly 'data-autofocus'?: boolean
  readonly people: readonly { readonly id: string; readonly name: string }[]
  /** The choice of nobody in particular, such as `All people`; without it, someone has to be chosen. */
  readonly none?: string
  /** The id of the person. */
  readonly value: string
  readonly onChange: (id: string) => void
}

/** Chooses a person by a part of the name. */
export function PersonChoice({ people, none, readOnly = false, ...props }: PersonChoiceProps) {
  const named = people.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <Choice
      {...props}
      // Until the people have arrived, nobody would be found.
      readOnly={readOnly || people.length === 0}
      placeholder="Choose a person"
      nothingFoundMessage="Nobody has this name"
      data={none === undefined ? named : [{ value: '', label: none }, ...named]}
    />
  )
}
