import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { formatDecimal } from '../../../src/platform/decimal.ts'
import { decimalText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { amountsOf, isBlank, typedTotals, type TypedLine } from './draft-values.ts'
import classes from './invoice.module.css'

interface TypedTotalsProps {
  /** Those that are not left out. */
  readonly proposed: ShownInvoice['lines']
  readonly lines: readonly TypedLine[]
  readonly start: DraftOptions
}

/** What the draft would sum to if it were saved now: exact, like the server's. */
export function TypedTotals({ proposed, lines, start }: TypedTotalsProps) {
  const { net, gross, taxes } = typedTotals(proposed, lines, start)
  const money = (amount: bigint) => moneyText(formatDecimal(amount, 12), start.currency)
  const isPartial = lines.some((line) => !isBlank(line) && !amountsOf(line, start.decimals))
  return (
    <section className={classes.totals} aria-label="Totals">
      <dl>
        <Total name="Net">{money(net)}</Total>
        {taxes.map((tax) => (
          <Total
            key={`${tax.category} ${tax.rate}`}
            name={`Tax ${decimalText(formatDecimal(BigInt(tax.rate), 2))}% of ${money(tax.net)}`}
          >
            {money(tax.tax)}
          </Total>
        ))}
        <Total name="Total" className={classes.strong}>
          {money(gross)}
        </Total>
      </dl>
      {isPartial && <p className={classes.small}>Incomplete lines are not counted.</p>}
    </section>
  )
}

interface TotalProps {
  readonly name: string
  readonly className?: string | undefined
  readonly children: string
}

function Total({ name, className, children }: TotalProps) {
  return (
    <div className={className}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
