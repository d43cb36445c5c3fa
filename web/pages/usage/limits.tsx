import type { UsageLimits, UsagePageData } from '../../../src/usage/schema.ts'
import tables from '../../components/table.module.css'
import { numberText, percentText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './usage.module.css'

/** How close each account is to its limits, the closest first. */
export function Limits({ limits, currency }: Pick<UsagePageData, 'limits' | 'currency'>) {
  return (
    <section className={classes.section} aria-labelledby="limits">
      <header className={classes.bar}>
        <h2 id="limits">Limits now</h2>
      </header>
      <div className={tables.frame}>
        <table className={`${tables.table} ${classes.numbers}`}>
          <thead>
            <tr>
              <th scope="col">Account</th>
              <th scope="col">Credit left</th>
              <th scope="col">Used</th>
              <th scope="col" className={tables.wide}>
                Requests left this minute
              </th>
              <th scope="col" className={tables.wide}>
                Tokens left this minute
              </th>
            </tr>
          </thead>
          <tbody>
            {limits.map((each) => (
              <Account key={each.account.id} limits={each} currency={currency} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Account({ limits, currency }: { readonly limits: UsageLimits; readonly currency: string }) {
  const { account, available, monthly_limit: monthly, used_percent: used } = limits
  return (
    <tr>
      <th scope="row">{account.name}</th>
      <td className={tables.strong}>
        {moneyText(available, currency)}
        <small>{monthly === null ? 'prepaid' : `of ${moneyText(monthly, currency)} a month`}</small>
      </td>
      {used === null ? <td>–</td> : <Used share={used / 100} />}
      <Bucket level={limits.requests_per_minute} />
      <Bucket level={limits.tokens_per_minute} />
    </tr>
  )
}

function Used({ share }: { readonly share: number }) {
  return (
    <td className={classes.share} data-close={share >= 0.9 || undefined}>
      <span>{percentText(share)}</span>
      <i style={{ width: `${share * 100}%` }} />
    </td>
  )
}

function Bucket({ level: { limit, remaining } }: { readonly level: UsageLimits['requests_per_minute'] }) {
  return (
    <td className={tables.wide}>
      {numberText(remaining)} of {numberText(limit)}
    </td>
  )
}
