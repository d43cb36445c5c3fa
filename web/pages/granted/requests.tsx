import { Button } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link, useLoaderData, useParams, useSearchParams } from 'react-router'
import type { AccountRequests } from '../../../src/usage/account/schema.ts'
import type { OwnRequest } from '../../../src/usage/own/schema.ts'
import { useNow } from '../../components/clock.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { Page } from '../../components/page.tsx'
import { useParameters } from '../../components/parameters.ts'
import tables from '../../components/table.module.css'
import { numberText, preciseTime, timeZoneName } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { PeriodFilter } from '../usage/filters.tsx'
import { nameOfKey } from '../usage/key-name.ts'
import { periodOf } from '../usage/periods.ts'
import { durationText, OutcomeBadge, OutcomeChoice } from '../usage/requests.tsx'
import classes from '../usage/usage.module.css'

/** The requests of an account one by one, newest first. */
export function AccountRequestsPage() {
  const { account = '' } = useParams()
  const page = useLoaderData<AccountRequests>()
  return (
    <Page
      title="Requests"
      actions={
        <Button
          component={Link}
          to={`/accounts/${account}`}
          variant="default"
          leftSection={<IconArrowLeft size={15} aria-hidden />}
        >
          Account
        </Button>
      }
    >
      <Filters />
      <More
        first={page.requests}
        next={page.next}
        pick={({ requests }: AccountRequests) => requests}
        idOf={(request) => request.request_id}
      >
        {(rows) => (rows.length === 0 ? <None /> : <RequestTable accountId={account} requests={rows} />)}
      </More>
    </Page>
  )
}

function Filters() {
  const { get } = useParameters()
  const last = periodOf('days', useNow())
  return (
    <search className={classes.filters}>
      <PeriodFilter from={get('from') || last.from} to={get('to') || last.to} />
      <OutcomeChoice />
      <span className={classes.hint}>Days are UTC days.</span>
    </search>
  )
}

function None() {
  const { reset } = useParameters()
  const [parameters] = useSearchParams()
  return (
    <Empty title="No requests">
      <p>Requests appear here as soon as they are charged or refused. Refused ones are kept for 30 days.</p>
      {parameters.size > 0 && (
        <Button variant="default" onClick={reset}>
          Show the last 30 days
        </Button>
      )}
    </Empty>
  )
}

interface RequestTableProps {
  readonly accountId: string
  readonly requests: readonly OwnRequest[]
}

export function RequestTable({ accountId, requests }: RequestTableProps) {
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.requests}`}>
        <thead>
          <tr>
            <th scope="col">Time ({timeZoneName()})</th>
            <th scope="col">Key</th>
            <th scope="col" className={tables.wide}>
              Model
            </th>
            <th scope="col">Outcome</th>
            <th scope="col" className={`${tables.wide} ${classes.number}`}>
              Tokens in / out
            </th>
            <th scope="col" className={`${tables.wide} ${classes.number}`}>
              Duration
            </th>
            <th scope="col" className={classes.number}>
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {requests.map((each) => (
            <Row key={each.request_id} accountId={accountId} request={each} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ accountId, request }: { readonly accountId: string; readonly request: OwnRequest }) {
  const { request_id: id, at, key, model, outcome, call, milliseconds } = request
  return (
    <tr>
      <td className={classes.time}>
        <Link to={`/accounts/${accountId}/requests/${id}`}>{preciseTime(at)}</Link>
      </td>
      <td className={tables.strong}>{key === null ? '–' : nameOfKey(key)}</td>
      <td className={tables.wide}>{model ?? '–'}</td>
      <td>
        <OutcomeBadge request={request} />
        {call !== null && call.reason !== null && <small>{call.reason}</small>}
      </td>
      <td className={`${tables.wide} ${classes.number}`}>
        {outcome === 'charged' && `${numberText(request.input_tokens)} / ${numberText(request.output_tokens)}`}
      </td>
      <td className={`${tables.wide} ${classes.number}`}>{durationText(milliseconds)}</td>
      <td className={`${tables.strong} ${classes.number}`}>
        {outcome === 'charged' && moneyText(request.cost, request.currency)}
      </td>
    </tr>
  )
}
