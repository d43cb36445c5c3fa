import { Button } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useLoaderData, useParams } from 'react-router'
import type { OwnRequest } from '../../../src/usage/own/schema.ts'
import type { UsageRequest } from '../../../src/usage/schema.ts'
import { Page } from '../../components/page.tsx'
import { numberText, preciseTime, timeZoneName } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { nameOfKey } from './key-name.ts'
import { durationText, OutcomeBadge } from './request-table.tsx'
import classes from './usage.module.css'

/** What was called and why it was refused. */
function RefusedCall({ call }: { call: NonNullable<UsageRequest['call']> }) {
  return (
    <>
      {call.field !== null && (
        <Fact name="Field">
          <code>{call.field}</code>
        </Fact>
      )}
      {call.reason !== null && <Fact name="Details">{call.reason}</Fact>}
      <Fact name="Called">{`${call.route} (${call.streamed ? 'streamed' : 'not streamed'})`}</Fact>
      <Fact name="Format">{formats[call.dialect]}</Fact>
      {call.user_agent !== null && <Fact name="Program">{call.user_agent}</Fact>}
    </>
  )
}

const formats = { tollgate: 'Tollgate', openai: 'OpenAI', anthropic: 'Anthropic' } as const

/** Who counted the tokens. */
const sources: Readonly<Record<string, string>> = {
  model: 'Counted by the model',
  upstream: 'Reported by the upstream',
  estimated: 'Estimated by Tollgate',
}

/** One request; for partners. */
export function RequestPage() {
  return <Shown request={useLoaderData<UsageRequest>()} all="/usage/requests" />
}

/** One request of an account. */
export function AccountRequestPage() {
  const { account = '' } = useParams()
  return <Shown request={useLoaderData<OwnRequest>()} all={`/accounts/${account}/requests`} />
}

/** What the firm knows of a request, or only what its account does. */
type ShownRequest = Omit<OwnRequest, 'key'> & Pick<UsageRequest, 'key'> & Partial<UsageRequest>

function Shown({ request, all }: { readonly request: ShownRequest; readonly all: string }) {
  const { account, key, person, client, outcome, usage_source: source } = request
  return (
    <Page
      title="Request"
      aside={<OutcomeBadge request={request} />}
      actions={
        <Button component={Link} to={all} variant="default" leftSection={<IconArrowLeft size={15} aria-hidden />}>
          All requests
        </Button>
      }
    >
      <dl className={classes.facts}>
        <Fact name="Request id">
          <code>{request.request_id}</code>
        </Fact>
        <Fact name={outcome === 'charged' ? 'Charged at' : 'Refused at'}>
          <time dateTime={request.at}>{`${preciseTime(request.at)} (${timeZoneName()})`}</time>
        </Fact>
        <Fact name="Duration">{durationText(request.milliseconds)}</Fact>
        {account && (
          <Fact name="Account">
            <Link to={`/usage?account=${account.id}`}>{account.name ?? account.id}</Link>
          </Fact>
        )}
        {key && <Fact name="Key">{nameOfKey(key)}</Fact>}
        {person && <Fact name="Person">{person.name ?? person.id}</Fact>}
        {client && (
          <Fact name="Client">
            <Link to={`/clients/${client.id}`}>{client.name ?? client.id}</Link>
          </Fact>
        )}
        {Object.entries(request.tags ?? {}).map(([name, value]) => (
          <Fact key={name} name={`Tag ${name}`}>
            {value}
          </Fact>
        ))}
        <Fact name="Model">{request.model ?? 'No known model'}</Fact>
        <Fact name="Status">{request.status}</Fact>
        {request.code !== null && (
          <Fact name="Reason">
            <a href={`/docs/errors#${request.code}`}>{request.code}</a>
          </Fact>
        )}
        {request.call && <RefusedCall call={request.call} />}
        {outcome === 'charged' && (
          <>
            <Fact name="Input tokens">{numberText(request.input_tokens)}</Fact>
            <Fact name="Output tokens">{numberText(request.output_tokens)}</Fact>
            {source !== undefined && <Fact name="Tokens">{sources[source ?? ''] ?? source}</Fact>}
            <Fact name="Cost">{moneyText(request.cost, request.currency)}</Fact>
          </>
        )}
      </dl>
    </Page>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
