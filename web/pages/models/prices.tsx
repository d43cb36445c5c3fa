import { Badge } from '@mantine/core'
import type { ConfiguredModelJson, ListedPrice } from '../../../src/models/schema.ts'
import tables from '../../components/table.module.css'
import { exactTime } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { priceText } from './price-text.ts'
import classes from './models.module.css'

const sources = { configuration: 'Configuration', command: 'Command', portal: 'This page' } as const
const states = { past: 'Past', 'in force': 'In force', 'to come': 'To come' } as const
const colors = { past: 'gray', 'in force': 'teal', 'to come': 'orange' } as const

/** All prices of a model, newest first, and what the configuration says. */
export function Prices({ model: { id, prices, configured_price: configured }, currency }: PricesProps) {
  if (prices.length === 0) return null
  const hasCache = prices.some(({ cached_input, cache_write }) => (cached_input ?? cache_write) !== undefined)
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
              {hasCache && (
                <>
                  <th scope="col" className={classes.amount}>
                    Cached
                  </th>
                  <th scope="col" className={classes.amount}>
                    Cache write
                  </th>
                </>
              )}
              <th scope="col" className={tables.wide}>
                Set by
              </th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {prices.map((price) => (
              <PriceRow key={price.valid_from} price={price} currency={currency} hasCache={hasCache} />
            ))}
          </tbody>
        </table>
      </div>
      <p className={classes.about}>
        {configured === null
          ? 'The configuration has no price for this model.'
          : `The configuration says ${priceText(configured, currency)}. A price set here or by command stays in force until another one is set, or until the configuration changes.`}
      </p>
    </details>
  )
}

interface PricesProps {
  readonly model: ConfiguredModelJson
  readonly currency: string
}

interface PriceRowProps {
  readonly price: ListedPrice
  readonly currency: string
  /** Whether any price of the model has parts for a prompt cache. */
  readonly hasCache: boolean
}

function PriceRow({ price, currency, hasCache }: PriceRowProps) {
  const { input, output, cached_input: cached, cache_write: write, valid_from: from, source, state } = price
  return (
    <tr>
      <td>{exactTime(from)}</td>
      <td className={`${classes.amount} ${tables.strong}`}>{moneyText(input, currency)}</td>
      <td className={`${classes.amount} ${tables.strong}`}>{moneyText(output, currency)}</td>
      {hasCache && (
        <>
          <td className={classes.amount}>{cached === undefined ? 'As input' : moneyText(cached, currency)}</td>
          <td className={classes.amount}>{write === undefined ? 'As input' : moneyText(write, currency)}</td>
        </>
      )}
      <td className={tables.wide}>{sources[source]}</td>
      <td>
        <Badge className={classes.state} color={colors[state]}>
          {states[state]}
        </Badge>
      </td>
    </tr>
  )
}
