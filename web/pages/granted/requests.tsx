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
import { PeriodFilter } from '../usage/filters.tsx'
import { nameOfKey } from '../usage/key-name.ts'
import { periodOf } from '../usage/periods.ts'
import { RequestTable } from '../usage/request-table.tsx'
import { OutcomeChoice } from '../usage/requests.tsx'
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
        {(rows) => (rows.length === 0 ? <None /> : <AccountRequestTable accountId={account} requests={rows} />)}
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

export function AccountRequestTable({
  accountId,
  requests,
}: {
  readonly accountId: string
  readonly requests: readonly OwnRequest[]
}) {
  return (
    <RequestTable
      requests={requests}
      addressOf={({ request_id: id }) => `/accounts/${accountId}/requests/${id}`}
      whoIs="Key"
      who={({ key }) => (key === null ? '–' : nameOfKey(key))}
      reason={({ call }) => call?.reason}
    />
  )
}
