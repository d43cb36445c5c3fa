import { Checkbox, NativeSelect, Stack, TagsInput, Textarea, TextInput } from '@mantine/core'
import type { Field, Value } from '../fields.ts'
import classes from './edit-form.module.css'
import { InvoiceInput } from './invoice-input.tsx'
import { matchingOptions } from './matching-options.ts'
import { useReceivers } from './people-names.ts'
import { PersonChoice, type PersonChoiceProps } from './person-choice.tsx'
import { useRole } from './role.ts'

export interface FieldInputProps {
  readonly field: Field
  readonly value: Value
  readonly error: string | undefined
  /** Read-only while saving, when input would be lost. */
  readonly readOnly: boolean
  readonly onChange: (value: Value) => void
}

/** One field of a form, by its kind. */
export function FieldInput({ field, value, error, readOnly, onChange }: FieldInputProps) {
  const isPartner = useRole() === 'partner'
  const { name, label, kind, required = false, placeholder = '', maxLength, choices, suggestions = [] } = field
  const common = {
    'data-field': name,
    label,
    error,
    className: classes[kind],
    placeholder,
    required,
    withAsterisk: false,
  }
  const typed = { ...common, readOnly }
  const text = typeof value === 'string' ? value : value.join(', ')
  const change = (event: { readonly currentTarget: { readonly value: string } }) => onChange(event.currentTarget.value)
  const limit = maxLength === undefined ? {} : { maxLength }
  switch (kind) {
    case 'text':
      return <Textarea {...typed} value={text} onChange={change} autosize minRows={6} maxRows={30} />
    case 'lines':
      return <Textarea {...typed} {...limit} value={text} onChange={change} autosize minRows={3} maxRows={8} />
    case 'names':
      return (
        <TagsInput
          {...typed}
          size="sm"
          splitChars={[',', ';', '\n']}
          data={[...suggestions]}
          filter={matchingOptions}
          limit={mostSuggested}
          withScrollArea={false}
          value={typeof value === 'string' ? [] : [...value]}
          onChange={onChange}
        />
      )
    case 'flag':
      return <NativeSelect {...common} value={text} onChange={change} data={options({ true: 'Yes', false: 'No' })} />
    case 'minutes':
      return <TextInput {...typed} {...limit} value={text} onChange={change} />
    case 'whole':
      return <TextInput {...typed} {...limit} value={text} onChange={change} inputMode="numeric" />
    case 'choice':
      return <NativeSelect {...common} value={text} onChange={change} data={options(choices ?? {})} />
    case 'several':
      return (
        <Checkbox.Group
          label={label}
          error={error}
          className={classes[kind]}
          value={typeof value === 'string' ? [] : [...value]}
          onChange={onChange}
          readOnly={readOnly}
        >
          <Stack gap="xs">
            {options(choices ?? {}).map((choice) => (
              <Checkbox key={choice.value} size="sm" data-field={name} {...choice} />
            ))}
          </Stack>
        </Checkbox.Group>
      )
    case 'consultant':
      return isPartner && <ConsultantInput {...typed} value={text} onChange={onChange} />
    case 'partner':
      return <PartnerInput {...typed} value={text} onChange={onChange} />
    case 'amount':
      return <TextInput {...typed} {...limit} value={text} onChange={change} inputMode="decimal" />
    case 'date':
      // A two-digit year, "26", would be in the first century.
      return <TextInput {...typed} value={text} onChange={change} type="date" min="1900-01-01" max="9999-12-31" />
    case 'moment':
      return <TextInput {...typed} value={text} onChange={change} type="datetime-local" max="9999-12-31T23:59" />
    case 'invoice':
      return <InvoiceInput {...typed} {...limit} value={text} onChange={onChange} />
    case 'line':
      return <TextInput {...typed} {...limit} value={text} onChange={change} />
  }
}

/** More would need to be scrolled. */
const mostSuggested = 8

function options(choices: Readonly<Record<string, string>>) {
  return Object.entries(choices).map(([value, label]) => ({ value, label }))
}

function ConsultantInput(props: Omit<PersonChoiceProps, 'people' | 'none'>) {
  const people = useReceivers()
  const isKnown = people.some(({ id }) => id === props.value)
  return (
    <PersonChoice
      {...props}
      people={isKnown || people.length === 0 ? people : [{ id: props.value, name: 'Unchanged' }, ...people]}
    />
  )
}

/** Chooses a partner. Empty: the consultant of the client. */
function PartnerInput(props: Omit<PersonChoiceProps, 'people' | 'none'>) {
  const partners = useReceivers().filter(({ role }) => role === 'partner')
  const isKnown = props.value === '' || partners.some(({ id }) => id === props.value)
  return (
    <PersonChoice
      {...props}
      none="The client’s consultant"
      people={isKnown || partners.length === 0 ? partners : [{ id: props.value, name: 'Unchanged' }, ...partners]}
    />
  )
}
