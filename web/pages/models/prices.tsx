import { Badge } from '@mantine/core'
import type { ConfiguredModelJson, ListedPrice } from '../../../src/models/schema.ts'
import tables from '../../components/table.module.css'
import { exactTime } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './models.module.css'

const sources = { configuration: 'Configuration', command: 'Command', portal: 'This page' } as const
const states = { past: 'Past', 'in force': 'In force', 'to come': 'To come' } as const
const colors = { past: 'gray', 'in force': 'teal', 'to come': 'orange' } as const

/** All prices of a model, the newest first, and what the configuration says. */
export function Prices({ model: { id, prices, configured_price: configured }, currency }: PricesProps) {
  if (prices.length === 0) return null
  return (
    <details className={classes.prices}>
      <summary>Price history</summary>
      <div className={tables.frame}>
        <table className={tables.table} aria-label={`Prices of ${id}`}>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col" className={classes.amount}>
                In
              </th>
              <th scope="col" className={classes.amount}>
                Out
              </th>
              <th scope="col" className={tables.wide}>
                Set by
              </th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {prices.map((price) => (
              <PriceRow key={price.valid_from} price={price} currency={currency} />
            ))}
          </tbody>
        </table>
      </div>
      <p className={classes.about}>
        {configured === null
          ? 'The configuration has no price for this model.'
          : `The configuration says ${moneyText(configured.input, currency)} in and ${moneyText(configured.output, currency)} out. A price set here or by command stays in force until another one is set, or until the configuration changes.`}
      </p>
    </details>
  )
}

interface PricesProps {
  readonly model: ConfiguredModelJson
  readonly currency: string
}

function PriceRow({ price, currency }: { readonly price: ListedPrice; readonly currency: string }) {
  const { input, output, valid_from: from, source, state } = price
  return (
    <tr>
      <td>{exactTime(from)}</td>
      <td className={`${classes.amount} ${tables.strong}`}>{moneyText(input, currency)}</td>
      <td className={`${classes.amount} ${tables.strong}`}>{moneyText(output, currency)}</td>
      <td className={tables.wide}>{sources[source]}</td>
      <td>
        <Badge className={classes.state} color={colors[state]}>
          {states[state]}
        </Badge>
      </td>
    </tr>
  )
}
