import { Badge, Button, NativeSelect, TextInput } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLoaderData, useSearchParams } from 'react-router'
import type { AuditList, AuditRow } from '../../../src/clients/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import { usePeople } from '../../components/people-names.ts'
import tables from '../../components/table.module.css'
import { preciseTime, timeZoneName } from '../../locale.ts'
import { spoken } from '../../words.ts'
import { actions } from './actions.ts'
import classes from './audit.module.css'
import { beginOf, dayOf, endOf } from './days.ts'

/** The audit log with filters and export; for partners. */
export function AuditPage() {
  const list = useLoaderData<AuditList>()
  const [parameters] = useSearchParams()
  const file = new URLSearchParams(parameters)
  file.set('format', 'csv')
  return (
    <Page
      title="Audit log"
      actions={
        <Button
          component="a"
          variant="default"
          leftSection={<IconDownload size={15} />}
          href={`/audit?${file.toString()}`}
          download="audit.csv"
        >
          Export CSV
        </Button>
      }
    >
      <AuditFilters />
      <More first={list.audit} next={list.next} pick={(page: AuditList) => page.audit} idOf={({ id }) => id}>
        {(rows) => (rows.length === 0 ? <Empty title="Nothing matches" /> : <AuditTable rows={rows} />)}
      </More>
    </Page>
  )
}

function AuditFilters() {
  const { get, change } = useParameters()
  const people = usePeople()
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
      {choice(
        'person',
        'Person',
        'All people',
        people.map(({ id, name }) => ({ value: id, label: name })),
      )}
      <DayInput name="From" label="From date" day={dayOf(get('from'))} onDay={(day) => set('from', beginOf(day))} />
      <DayInput name="To" label="To date" day={dayOf(get('to'), true)} onDay={(day) => set('to', endOf(day))} />
    </search>
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

function AuditTable({ rows }: { readonly rows: readonly AuditRow[] }) {
  return (
    <div className={tables.frame}>
      <table className={tables.table}>
        <thead>
          <tr>
            <th scope="col">Time ({timeZoneName()})</th>
            <th scope="col">Action</th>
            <th scope="col">Actor</th>
            <th scope="col" className={tables.wide}>
              Client
            </th>
            <th scope="col" className={tables.wide}>
              Address
            </th>
            <th scope="col" className={tables.wide}>
              Details
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ row }: { readonly row: AuditRow }) {
  const details = Object.entries(row.details).map(
    ([name, value]) => `${name}: ${name === 'fields' ? listed(value) : value}`,
  )
  return (
    <tr>
      <td className={classes.time}>
        <time dateTime={row.at}>{preciseTime(row.at)}</time>
      </td>
      <td className={tables.strong}>
        {spoken(row.action)}{' '}
        {row.outcome === 'refused' && (
          <Badge color="red" ml={4}>
            Refused
          </Badge>
        )}
        {row.client && (
          <span className={classes.about}>
            <ClientLink client={row.client} />
          </span>
        )}
      </td>
      <td className={classes.who}>{actorText(row.actor)}</td>
      <td className={`${tables.wide} ${classes.who}`}>{row.client && <ClientLink client={row.client} />}</td>
      <td className={tables.wide}>{row.address}</td>
      <td className={`${tables.wide} ${classes.details}`} title={details.join('\n')}>
        {details.join(' · ')}
      </td>
    </tr>
  )
}

/** `date text` → `date, text`. */
const listed = (names: string): string => names.split(' ').join(', ')

/** The actor as text. */
function actorText({ kind, id, name }: AuditRow['actor']): string {
  switch (kind) {
    case 'person':
      return name ?? id ?? ''
    case 'command':
      return `Command line (${name ?? ''})`
    case 'key':
      return `API key ${id ?? ''}`
    case 'service':
      return 'Tollgate'
    case 'visitor':
      return 'Not signed in'
  }
}

const actorKinds = [
  { value: 'person', label: 'People' },
  { value: 'command', label: 'Command line' },
  { value: 'key', label: 'API keys' },
  { value: 'service', label: 'Tollgate' },
  { value: 'visitor', label: 'Not signed in' },
]

function ClientLink({ client: { id, name } }: { readonly client: NonNullable<AuditRow['client']> }) {
  return <Link to={`/clients/${id}`}>{name ?? id}</Link>
}
