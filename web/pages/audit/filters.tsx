import { Button, NativeSelect, Switch, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import type { AuditRow } from '../../../src/clients/schema.ts'
import { useParameters } from '../../components/parameters.ts'
import { usePeople } from '../../components/people-names.ts'
import { PersonChoice } from '../../components/person-choice.tsx'
import { spoken } from '../../words.ts'
import { actions } from './actions.ts'
import { includesViews } from './address.ts'
import classes from './audit.module.css'
import { beginOf, dayOf, endOf } from './days.ts'

/** The filters, which are parameters of the URL. */
export function AuditFilters({ rows }: { readonly rows: readonly AuditRow[] }) {
  const { get, change } = useParameters()
  const [parameters] = useSearchParams()
  const people = usePeople()
  const client = rows.find((row) => row.client?.id === get('client'))?.client?.name ?? 'One client'
  const set = (name: string, value: string) => change({ [name]: value })
  const choice = (name: string, label: string, any: string, data: readonly { value: string; label: string }[]) => (
    <NativeSelect
      aria-label={label}
      className={classes.filter}
      data={[{ value: '', label: any }, ...data]}
      value={get(name)}
      onChange={({ currentTarget }) => set(name, currentTarget.value)}
    />
  )
  return (
    <search className={classes.filters}>
      {choice(
        'action',
        'Action',
        'All actions',
        actions.map((value) => ({ value, label: spoken(value) })),
      )}
      {choice('outcome', 'Outcome', 'Any outcome', [
        { value: 'allowed', label: 'Allowed' },
        { value: 'refused', label: 'Refused' },
      ])}
      {choice('actor', 'Kind of actor', 'Any actor', actorKinds)}
      <PersonChoice
        aria-label="Person"
        className={`${classes.filter} ${classes.person}`}
        none="All people"
        people={people}
        value={get('person')}
        onChange={(id) => set('person', id)}
      />
      <DayInput name="From" label="From date" day={dayOf(get('from'))} onDay={(day) => set('from', beginOf(day))} />
      <DayInput name="To" label="To date" day={dayOf(get('to'), true)} onDay={(day) => set('to', endOf(day))} />
      <ViewsInput
        shown={includesViews(parameters)}
        isFixed={get('action') !== ''}
        onChange={(isWanted) => set('views', isWanted ? 'true' : '')}
      />
      {get('client') !== '' && (
        <Button
          variant="light"
          rightSection={<IconX size={14} />}
          aria-label={`Show all clients, not only ${client}`}
          onClick={() => set('client', '')}
        >
          {client}
        </Button>
      )}
    </search>
  )
}

interface ViewsInputProps {
  readonly shown: boolean
  /** An action that was chosen is shown in any case. */
  readonly isFixed: boolean
  readonly onChange: (isWanted: boolean) => void
}

function ViewsInput({ shown: now, isFixed, onChange }: ViewsInputProps) {
  const [{ checked, shown }, set] = useState({ checked: now, shown: now })
  // Something else changed the URL.
  if (now !== shown) set({ checked: now, shown: now })
  return (
    <Switch
      className={classes.views}
      label="Include views"
      checked={checked}
      disabled={isFixed}
      onChange={({ currentTarget }) => {
        set({ checked: currentTarget.checked, shown })
        onChange(currentTarget.checked)
      }}
    />
  )
}

interface DayInputProps {
  readonly name: string
  readonly label: string
  readonly day: string
  readonly onDay: (day: string) => void
}

function DayInput({ name, label, day, onDay }: DayInputProps) {
  const [{ typed, shown }, set] = useState({ typed: day, shown: day })
  // Something else changed the URL.
  if (day !== shown) set({ typed: day, shown: day })
  return (
    <TextInput
      type="date"
      max="9999-12-31"
      aria-label={label}
      leftSection={<span aria-hidden>{name}</span>}
      className={classes.day}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        set({ typed: value, shown })
        // A partly typed year is in one of the first centuries.
        if (value === '' || value >= '1000') onDay(value)
      }}
    />
  )
}

const actorKinds = [
  { value: 'person', label: 'People' },
  { value: 'command', label: 'Command line' },
  { value: 'key', label: 'API keys' },
  { value: 'service', label: 'Tollgate' },
  { value: 'visitor', label: 'Not signed in' },
]
