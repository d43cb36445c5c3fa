import { Badge, Button } from '@mantine/core'
import { IconList } from '@tabler/icons-react'
import { Link, useLoaderData } from 'react-router'
import type { BudgetList } from '../../../src/accounts/budgets/schema.ts'
import type { GrantedAccountShown, KeyList } from '../../../src/accounts/schema.ts'
import type { AccountRequests, AccountUsageReport } from '../../../src/usage/account/schema.ts'
import { Page } from '../../components/page.tsx'
import { monthText, numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { Budgets } from '../account/budgets.tsx'
import { Facts } from '../account/facts.tsx'
import { Keys } from '../account/keys.tsx'
import account from '../account/account.module.css'
import { BatchesLink } from '../batches/batches-link.tsx'
import { ChartSection } from '../usage/chart-section.tsx'
import { PeriodFilter } from '../usage/filters.tsx'
import classes from '../usage/usage.module.css'
import { AccountRequestTable } from './requests.tsx'

/** The data of the page. */
export interface GrantedAccountData extends Pick<KeyList, 'keys'> {
  readonly account: GrantedAccountShown
  readonly budgets: BudgetList['budgets']
  readonly usage: AccountUsageReport
  readonly requests: AccountRequests['requests']
}

/** One account, for a developer who was granted it: its money, its usage, its keys and its last requests. */
export function GrantedAccountPage() {
  const { account: shown, keys, budgets, usage, requests } = useLoaderData<GrantedAccountData>()
  return (
    <Page title={shown.name} heading={<Heading account={shown} />} actions={<BatchesLink account={shown.id} />}>
      <Facts account={shown} />
      <Usage usage={usage} limit={shown.monthly_limit} />
      <Keys data={{ account: shown, keys }} />
      <Budgets data={{ account: shown, keys, budgets }} />
      <section className={account.section} aria-labelledby="requests">
        <div className={account.head}>
          <h2 id="requests">Last requests</h2>
          <Button
            component={Link}
            to={`/accounts/${shown.id}/requests`}
            variant="default"
            leftSection={<IconList size={15} aria-hidden />}
          >
            All requests
          </Button>
        </div>
        {requests.length === 0 ? (
          <p className={account.none}>No requests in the last 30 days.</p>
        ) : (
          <AccountRequestTable accountId={shown.id} requests={requests} />
        )}
      </section>
    </Page>
  )
}

function Heading({ account: { name, status } }: { readonly account: GrantedAccountShown }) {
  return (
    <div>
      <Link className={account.back} to="/accounts">
        Accounts
      </Link>
      <span className={account.heading}>
        <h1>{name}</h1>
        {status === 'closed' && <Badge color="gray">Closed</Badge>}
      </span>
    </div>
  )
}

interface UsageProps {
  readonly usage: AccountUsageReport
  /** The monthly limit of the account, if it has one. */
  readonly limit: string | null
}

function Usage({ usage, limit }: UsageProps) {
  const { from, to, total, currency, month } = usage
  return (
    <section className={account.section} aria-labelledby="usage">
      <div className={account.head}>
        <h2 id="usage">Usage</h2>
      </div>
      <div>
        <dl className={classes.tiles}>
          <Tile name={`Expected for ${monthText(month.from.slice(0, 7))}`} value={expectedText(usage)}>
            {limit === null
              ? `${moneyText(month.charged, currency)} until now`
              : `of ${moneyText(limit, currency)} a month`}
          </Tile>
          <Tile name="Cost" value={moneyText(total.cost, currency)}>
            in the days below
          </Tile>
          <Tile name="Requests" value={numberText(total.requests)}>
            {`${numberText(total.refused)} refused`}
          </Tile>
          <Tile name="Input tokens" value={numberText(total.input_tokens)}>
            {`${numberText(total.cached_tokens)} from the cache`}
          </Tile>
          <Tile name="Output tokens" value={numberText(total.output_tokens)}>
            in the days below
          </Tile>
        </dl>
        <search className={classes.filters}>
          <PeriodFilter from={from} to={to} />
          <span className={classes.hint}>Days are UTC days.</span>
        </search>
        {total.requests === 0 ? (
          <p className={account.none}>No request was charged in these days.</p>
        ) : (
          <ChartSection data={usage} />
        )}
      </div>
    </section>
  )
}

/** On the first day, nothing can be said. */
function expectedText({ month: { projected }, currency }: AccountUsageReport): string {
  return projected === null ? 'From tomorrow on' : `about ${moneyText(projected, currency)}`
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly children: string
}

function Tile({ name, value, children }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd className={classes.value}>{value}</dd>
      <dd className={classes.was}>{children}</dd>
    </div>
  )
}
