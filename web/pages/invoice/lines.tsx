import type { ShownInvoice, Unit } from '../../../src/invoicing/schema.ts'
import tables from '../../components/table.module.css'
import { decimalText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './invoice.module.css'

type Line = ShownInvoice['lines'][number]

/** The billed or credited lines, each with its exact price. */
export function Lines({ invoice: { lines, currency } }: { readonly invoice: ShownInvoice }) {
  if (lines.length === 0) return <p className={classes.none}>This draft has no lines yet.</p>
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.lines}`} aria-label="Lines">
        <thead>
          <tr>
            <th scope="col">Text</th>
            <th scope="col" className={`${classes.amount} ${classes.wide}`}>
              Quantity
            </th>
            <th scope="col" className={`${classes.amount} ${classes.wide}`}>
              Unit price
            </th>
            <th scope="col" className={`${classes.amount} ${classes.wide}`}>
              Tax
            </th>
            <th scope="col" className={classes.amount}>
              Net
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <LineRow key={line.position} line={line} currency={currency} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function LineRow({ line, currency }: { readonly line: Line; readonly currency: string }) {
  const quantity = quantityText(line.quantity, line.unit)
  // Time is counted in minutes and priced by the hour.
  const price = `${moneyText(priceOf(line), currency)}${line.unit === 'minute' ? '/h' : ''}`
  const tax = taxText(line.tax)
  const taxed = line.tax.category === 'O' ? '' : `, tax ${tax}`
  return (
    <tr>
      <td className={classes.text}>
        {line.text}
        <span className={classes.narrow}>{`${quantity} × ${price}${taxed}`}</span>
      </td>
      <td className={`${classes.amount} ${classes.wide}`}>{quantity}</td>
      <td className={`${classes.amount} ${classes.wide}`}>{price}</td>
      <td className={`${classes.amount} ${classes.wide}`}>{tax}</td>
      <td className={`${classes.amount} ${tables.strong}`}>{moneyText(line.net, currency)}</td>
    </tr>
  )
}

/** As on paper, a single flat fee costs its net amount. */
const priceOf = ({ unit, quantity, unit_price: price, net }: Line): string =>
  unit === 'lump_sum' && quantity === '1' ? net : price

/** The rate of a tax: `19%`. Outside the scope of tax, there is none. */
const taxText = ({ category, rate }: Line['tax']): string => (category === 'O' ? '–' : `${decimalText(rate)}%`)

/** What the tax on a net amount is, as on paper: `Tax 19% of €100.00`, `Not subject to tax, on €100.00`. */
export function taxName({ rate, reason }: Pick<Line['tax'], 'rate' | 'reason'>, net: string): string {
  return reason === null ? `Tax ${decimalText(rate)}% of ${net}` : `${reason}, on ${net}`
}

const units: Readonly<Record<Unit, readonly [one: string, many: string]>> = {
  hour: ['hour', 'hours'],
  day: ['day', 'days'],
  month: ['month', 'months'],
  piece: ['piece', 'pieces'],
  kilometre: ['km', 'km'],
  million_tokens: ['million tokens', 'million tokens'],
  minute: ['minute', 'minutes'],
  lump_sum: ['flat fee', 'flat fees'],
  thousand_uses: ['thousand', 'thousand'],
}

/** The unit of several: `hours`. */
export const unitsText = (unit: Unit): string => units[unit][1]

/** A quantity with its unit: `3.5 hours`. */
function quantityText(quantity: string, unit: Unit): string {
  const [one, many] = units[unit]
  return `${decimalText(quantity)} ${quantity === '1' ? one : many}`
}
