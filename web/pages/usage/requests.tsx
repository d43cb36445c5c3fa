import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconChartBar, IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLoaderData, useSearchParams } from 'react-router'
import type { RequestsPageData, UsageRequest } from '../../../src/usage/schema.ts'
import { useNow } from '../../components/clock.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import { spoken } from '../../words.ts'
import { PeriodFilter, Selection, type Selected } from './filters.tsx'
import { periodOf } from './periods.ts'
import { RequestTable } from './request-table.tsx'
import classes from './usage.module.css'

/** The requests one by one, newest first; for partners. */
export function RequestsPage() {
  const page = useLoaderData<RequestsPageData>()
  const [parameters] = useSearchParams()
  const file = new URLSearchParams(parameters)
  file.set('format', 'csv')
  return (
    <Page
      title="Requests"
      actions={
        <>
          <Button
            component={Link}
            to={`/usage?${figuresOf(parameters)}`}
            variant="default"
            leftSection={<IconChartBar size={15} aria-hidden />}
          >
            Figures
          </Button>
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            href={`/usage/requests?${file.toString()}`}
            download="requests.csv"
          >
            Export CSV
          </Button>
        </>
      }
    >
      <Filters requests={page.requests} />
      <More
        first={page.requests}
        next={page.next}
        pick={({ requests }: RequestsPageData) => requests}
        idOf={(request) => request.request_id}
      >
        {(rows) =>
          rows.length === 0 ? (
            <None />
          ) : (
            <RequestTable
              requests={rows}
              addressOf={({ request_id: id }) => `/usage/requests/${id}`}
              whoIs="Account and key"
              who={whoMade}
            />
          )
        }
      </More>
    </Page>
  )
}

/** The parameters that the figures have, too. */
function figuresOf(parameters: URLSearchParams): string {
  const names = ['from', 'to', 'account', 'key', 'model', 'client']
  return new URLSearchParams([...parameters].filter(([name]) => names.includes(name))).toString()
}

function None() {
  const { reset } = useParameters()
  const [parameters] = useSearchParams()
  if (parameters.size === 0)
    return (
      <Empty title="No requests yet">
        <p>The requests of the last 30 days appear here as soon as they are charged or refused.</p>
      </Empty>
    )
  return (
    <Empty title="No requests match">
      <p>Some refused requests are kept for 30 days. The figures count all of them.</p>
      <Button variant="default" onClick={reset}>
        Show all requests
      </Button>
    </Empty>
  )
}

function Filters({ requests }: { readonly requests: readonly UsageRequest[] }) {
  const { get, change } = useParameters()
  const last = periodOf('days', useNow())
  return (
    <search className={classes.filters}>
      <PeriodFilter from={get('from') || last.from} to={get('to') || last.to} />
      <OutcomeChoice />
      <RequestField key={get('request')} id={get('request')} onId={(request) => change({ request })} />
      <Selection selected={selectedOf(get, requests)} />
      <span className={classes.hint}>Days are UTC days.</span>
    </search>
  )
}

/** Selects charged or refused requests. */
export function OutcomeChoice() {
  const { get, change } = useParameters()
  return (
    <NativeSelect
      aria-label="Outcome"
      data={[
        { value: '', label: 'Charged and refused' },
        { value: 'charged', label: 'Charged' },
        { value: 'refused', label: 'Refused' },
      ]}
      value={get('outcome')}
      onChange={({ currentTarget }) => change({ outcome: currentTarget.value })}
    />
  )
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

function RequestField({ id, onId }: { readonly id: string; readonly onId: (id: string) => void }) {
  const [text, setText] = useState(id)
  return (
    <TextInput
      className={classes.id}
      aria-label="Request id"
      placeholder="Request id"
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        const typed = value.trim()
        if (typed === '' || uuid.test(typed)) onId(typed)
      }}
    />
  )
}

/** The names come with the rows; of rows that do not match there are none. */
function selectedOf(get: (name: string) => string, [first]: readonly UsageRequest[]): Selected[] {
  const named = [
    ['account', 'Account', first?.account.name],
    ['key', 'Key', (first?.key ?? first?.person)?.name],
    ['client', 'Client', first?.client?.name],
    ['model', 'Model', undefined],
    ['code', 'Reason', spoken(get('code'))],
    ['stop_reason', 'Stop reason', spoken(get('stop_reason'))],
  ] as const
  return named
    .filter(([name]) => get(name) !== '')
    .map(([name, label, text]) => ({ name, label, text: text ?? get(name) }))
}

const whoMade = ({ account, key, person, client }: UsageRequest) => (
  <>
    {account.name ?? account.id}
    <small>{(key ?? person)?.name}</small>
    {client && <small>for {client.name ?? client.id}</small>}
  </>
)
