import type { ExpenseList, TimeEntryList } from '../../../src/clients/schema.ts'
import { moneyText } from '../../money.ts'
import classes from './costs.module.css'
import { durationText } from '../../duration.ts'

interface TotalsProps {
  readonly totals: (TimeEntryList | ExpenseList)['totals']
}

/** The sums of all entries. */
export function Totals({ totals }: TotalsProps) {
  if (totals === undefined || totals.entries === 0) return null
  const minutes = 'minutes' in totals ? totals.minutes : 0
  return (
    <p className={`${classes.total} ${classes.entries}`}>
      <strong>{moneyText(totals.billable, totals.currency)}</strong> billable
      {minutes > 0 && ` · ${durationText(minutes)} in all`}
    </p>
  )
}
