import { Badge } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { UsageRequest } from '../../../src/usage/schema.ts'
import tables from '../../components/table.module.css'
import { numberText, preciseTime, tenthsText, timeZoneName } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { spoken } from '../../words.ts'
import classes from './usage.module.css'

/** What every list of requests shows. */
type TableRequest = Pick<
  UsageRequest,
  | 'request_id'
  | 'at'
  | 'model'
  | 'outcome'
  | 'status'
  | 'code'
  | 'stop_reason'
  | 'input_tokens'
  | 'output_tokens'
  | 'cost'
  | 'currency'
  | 'milliseconds'
>

interface RequestTableProps<Request extends TableRequest> {
  readonly requests: readonly Request[]
  /** Where the page of a request is. */
  readonly addressOf: (request: Request) => string
  /** The heading of the column that says who made the request. */
  readonly whoIs: string
  readonly who: (request: Request) => ReactNode
  /** Why a request was refused, in a sentence. */
  readonly reason?: (request: Request) => string | null | undefined
}

export function RequestTable<Request extends TableRequest>(props: RequestTableProps<Request>) {
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.requests}`}>
        <thead>
          <tr>
            <th scope="col">Time ({timeZoneName()})</th>
            <th scope="col">{props.whoIs}</th>
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
          {props.requests.map((request) => (
            <Row key={request.request_id} {...props} request={request} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row<Request extends TableRequest>({
  request,
  addressOf,
  who,
  reason,
}: RequestTableProps<Request> & { readonly request: Request }) {
  const why = reason?.(request)
  const isCharged = request.outcome === 'charged'
  return (
    <tr>
      <td className={classes.time}>
        <Link to={addressOf(request)}>{preciseTime(request.at)}</Link>
      </td>
      <td className={tables.strong}>{who(request)}</td>
      <td className={tables.wide}>{request.model ?? '–'}</td>
      <td>
        <OutcomeBadge request={request} />
        {why && <small>{why}</small>}
      </td>
      <td className={`${tables.wide} ${classes.number}`}>
        {isCharged && `${numberText(request.input_tokens)} / ${numberText(request.output_tokens)}`}
      </td>
      <td className={`${tables.wide} ${classes.number}`}>{durationText(request.milliseconds)}</td>
      <td className={`${tables.strong} ${classes.number}`}>{isCharged && moneyText(request.cost, request.currency)}</td>
    </tr>
  )
}

/** `340 ms`, `2.5 s`; a dash for requests of versions that did not measure it. */
export function durationText(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  return milliseconds < 1000 ? `${milliseconds} ms` : `${tenthsText(milliseconds / 1000)} s`
}

/** How a request ended: its stop reason, or why it was refused. */
export function OutcomeBadge({
  request: { outcome, status, code, stop_reason: stop },
}: {
  readonly request: Pick<UsageRequest, 'outcome' | 'status' | 'code' | 'stop_reason'>
}) {
  if (outcome === 'refused')
    return <Badge color="red" className={classes.outcome}>{`${status} ${spoken(code ?? '')}`}</Badge>
  const isWhole = stop !== 'error' && stop !== 'cancelled'
  return (
    <Badge color={isWhole ? 'teal' : 'orange'} className={classes.outcome}>
      {spoken(stop ?? '')}
    </Badge>
  )
}
