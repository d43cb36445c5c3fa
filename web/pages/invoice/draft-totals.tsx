import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { formatDecimal } from '../../../src/platform/text/decimal.ts'
import { moneyText } from '../../money.ts'
import { amountsOf, isBlank, typedTotals, type TypedLine } from './draft-values.ts'
import classes from './invoice.module.css'
import { taxName } from './lines.tsx'
import { Total } from './totals.tsx'

interface TypedTotalsProps {
  /** Those that are not left out. */
  readonly proposed: ShownInvoice['lines']
  readonly lines: readonly TypedLine[]
  readonly start: DraftOptions
}

/** The totals that the draft would have if saved now: exact, like the server's. */
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
            name={taxName({ ...tax, rate: formatDecimal(BigInt(tax.rate), 2) }, money(tax.net))}
          >
            {money(tax.tax)}
          </Total>
        ))}
        <Total name="Total" isStrong>
          {money(gross)}
        </Total>
      </dl>
      {isPartial && <p className={classes.small}>Incomplete lines are not counted.</p>}
    </section>
  )
}
