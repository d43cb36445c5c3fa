import type { Expense, TimeEntry } from '../../../src/clients/schema.ts'
import { formatDecimal, parseDecimal } from '../../../src/platform/decimal.ts'
import { moneyText } from '../../money.ts'
import classes from './costs.module.css'
import { durationText } from './summary.tsx'

interface TotalsProps {
  readonly entries: readonly (TimeEntry | Expense)[]
  /** Whether these are all of them. */
  readonly isWhole: boolean
}

/** The sums of entries. */
export function Totals({ entries, isWhole }: TotalsProps) {
  const [first] = entries
  if (first === undefined) return null
  const toBill = entries.filter(({ billable }) => billable)
  const amount = toBill.reduce((sum, entry) => sum + parseDecimal(entry.amount, 12), 0n)
  const minutes = entries.reduce((sum, entry) => sum + ('minutes' in entry ? entry.minutes : 0), 0)
  return (
    <p className={classes.total}>
      <strong>{moneyText(formatDecimal(amount, 12), first.currency)}</strong> billable
      {minutes > 0 && ` · ${durationText(minutes)} in all`}
      {!isWhole && ', of the entries shown'}
    </p>
  )
}
