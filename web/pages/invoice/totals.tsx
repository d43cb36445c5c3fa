import type { ReactNode } from 'react'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { moneyText } from '../../money.ts'
import classes from './invoice.module.css'
import { taxName } from './lines.tsx'
import { isZero } from './zero.ts'

/** From the net amount to what is open, with the taxes and what rounding changed. */
export function Totals({ invoice }: { readonly invoice: ShownInvoice }) {
  const { kind, number, currency, net, gross, rounding, paid, credited, open, taxes } = invoice
  const money = (amount: string) => moneyText(amount, currency)
  const isPayable = kind === 'invoice' && number !== null
  return (
    <section className={classes.totals} aria-label="Totals">
      <dl>
        <Total name="Net">{money(net)}</Total>
        {taxes.map((tax) => (
          <Total key={`${tax.category} ${tax.rate}`} name={taxName(tax, money(tax.net))}>
            {money(tax.tax)}
          </Total>
        ))}
        <Total name="Total" isStrong>
          {money(gross)}
        </Total>
        {isPayable && !isZero(paid) && <Total name="Paid">{money(paid)}</Total>}
        {isPayable && !isZero(credited) && <Total name="Credited">{money(credited)}</Total>}
        {isPayable && (
          <Total name="Open" isStrong>
            {money(open)}
          </Total>
        )}
      </dl>
      {!isZero(rounding) && (
        <p className={`${classes.small} ${classes.onScreen}`}>The net amount contains {money(rounding)} of rounding.</p>
      )}
    </section>
  )
}

interface TotalProps {
  readonly name: string
  readonly isStrong?: boolean
  readonly children: ReactNode
}

/** An amount of the totals with its name. */
export function Total({ name, isStrong = false, children }: TotalProps) {
  return (
    <div className={isStrong ? classes.strong : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
