import type { ReactNode } from 'react'
import type { GrantedAccountShown } from '../../../src/accounts/schema.ts'
import { Ago } from '../../components/time.tsx'
import { exactTime, numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './account.module.css'

/** The money and the limits of an account. */
export function Facts({ account }: { readonly account: GrantedAccountShown }) {
  const { currency, monthly_limit: limit } = account
  const money = (amount: string) => moneyText(amount, currency)
  return (
    <dl className={classes.facts}>
      <Fact name={limit === null ? 'Credit left' : 'Left this month'} isMain>
        {money(account.credit_left)}
        {limit !== null && <small>of {money(limit)}</small>}
      </Fact>
      <Fact name="Charged this month">
        {money(account.month_charged)}
        <small>{money(account.charged)} in all</small>
      </Fact>
      {account.held !== '0' && <Fact name="Held by requests in flight">{money(account.held)}</Fact>}
      <Fact name="Limits per minute">
        {numberText(account.requests_per_minute)} requests
        <small>{numberText(account.tokens_per_minute)} tokens</small>
      </Fact>
      <Fact name="Last used">
        {account.last_used_at === null ? 'Never' : <Ago time={account.last_used_at} />}
        <small>created {exactTime(account.created_at)}</small>
      </Fact>
      {account.closed_at !== null && <Fact name="Closed">{exactTime(account.closed_at)}</Fact>}
    </dl>
  )
}

function Fact(props: { readonly name: string; readonly isMain?: true; readonly children: ReactNode }) {
  return (
    <div className={props.isMain && classes.main}>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  )
}
