import { Badge } from '@mantine/core'
import { Link } from 'react-router'
import type { AccountCredit, FirmFigures } from '../../../src/overview/schema.ts'
import { percentText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './overview.module.css'
import { Section } from './section.tsx'

interface CreditProps {
  readonly accounts: FirmFigures['accounts']
  readonly currency: string
}

/** The remaining credit of the firm's own accounts and of those nearly used up. */
export function Credit({ accounts, currency }: CreditProps) {
  return (
    <Section
      title="Credit left"
      aside="Own accounts, and those nearly used up"
      isEmpty={accounts.length === 0}
      none="The firm has no account of its own, and no other is nearly used up."
    >
      <ul>
        {accounts.map((account) => (
          <Account key={account.id} account={account} currency={currency} />
        ))}
      </ul>
    </Section>
  )
}

interface AccountProps {
  readonly account: AccountCredit
  readonly currency: string
}

function Account({ account, currency }: AccountProps) {
  const { id, name, own, credit_left: left, monthly_limit: limit, used_percent: used } = account
  return (
    <li className={classes.row} data-close={used >= 90 || undefined}>
      <div className={classes.text}>
        <Link to={`/accounts/${id}`} data-row className={classes.link}>
          {name}
        </Link>{' '}
        {own && <Badge color="gray">Own</Badge>}
        <p>
          {percentText(used / 100)} used{limit !== null && ` of ${moneyText(limit, currency)} a month`}
        </p>
        <i className={classes.used}>
          <i style={{ width: `${used}%` }} />
        </i>
      </div>
      <span className={classes.end}>
        <strong>{moneyText(left, currency)}</strong>
      </span>
    </li>
  )
}
