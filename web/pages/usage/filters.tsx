import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useNow } from '../../components/clock.ts'
import { useParameters } from '../../components/parameters.ts'
import { nameOfPeriod, periodNames, periodOf, type PeriodName } from './periods.ts'
import classes from './usage.module.css'

const periods = Object.entries(periodNames).map(([value, label]) => ({ value, label }))
const nameIn = (value: string): PeriodName =>
  (['today', 'week', 'days', 'month'] as const).find((name) => name === value) ?? 'custom'

/** Chooses the days, in UTC. */
export function PeriodFilter({ from, to }: { readonly from: string; readonly to: string }) {
  const { change } = useParameters()
  const now = useNow()
  const name = nameOfPeriod({ from, to }, now)
  const [isCustom, setCustom] = useState(name === 'custom')

  function choose(chosen: PeriodName) {
    setCustom(chosen === 'custom')
    if (chosen !== 'custom') change({ ...periodOf(chosen, now) })
  }

  return (
    <>
      <NativeSelect
        aria-label="Period"
        data={periods}
        value={isCustom ? 'custom' : name}
        onChange={({ currentTarget: { value } }) => choose(nameIn(value))}
      />
      {(isCustom || name === 'custom') && (
        <>
          <DayField label="From" value={from} max={to} onDay={(day) => change({ from: day, to })} />
          <DayField label="To" value={to} min={from} onDay={(day) => change({ from, to: day })} />
        </>
      )}
    </>
  )
}

interface DayFieldProps {
  readonly label: string
  readonly value: string
  readonly min?: string
  readonly max?: string
  readonly onDay: (day: string) => void
}

function DayField({ label, value, min = '2000-01-01', max = '9998-12-31', onDay }: DayFieldProps) {
  const [{ typed, shown }, set] = useState({ typed: value, shown: value })
  // Something else changed the URL.
  if (value !== shown) set({ typed: value, shown: value })
  return (
    <TextInput
      type="date"
      aria-label={`${label} day`}
      min={min}
      max={max}
      value={typed}
      onChange={({ currentTarget: { value: day } }) => {
        set({ typed: day, shown })
        // A partly typed year is in one of the first centuries.
        if (day >= min && day <= max) onDay(day)
      }}
    />
  )
}

export interface Selected {
  /** The name of the parameter. */
  readonly name: string
  readonly label: string
  readonly text: string
}

/** The selected filters, each with a button to remove it. */
export function Selection({ selected }: { readonly selected: readonly Selected[] }) {
  const { change } = useParameters()
  return selected.map(({ name, label, text }) => (
    <Button
      key={name}
      variant="light"
      className={classes.selected}
      rightSection={<IconX size={14} aria-hidden />}
      aria-label={`${label} ${text}: remove this filter`}
      onClick={() => change({ [name]: '' })}
    >
      {label}: {text}
    </Button>
  ))
}
