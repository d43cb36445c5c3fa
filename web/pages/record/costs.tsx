import { Link, useLoaderData } from 'react-router'
import type { ClientCosts } from '../../../src/drafting/schema.ts'
import { Empty } from '../../components/empty.tsx'
import table from '../../components/table.module.css'
import { monthText, numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './costs.module.css'
import { useRecord } from './use-record.ts'

/** The cost of generation for a client, by month and by letter. */
export function CostsTab() {
  const costs = useLoaderData<ClientCosts>()
  const { total, currency, by_month: months } = costs
  if (months.length === 0) {
    return (
      <Empty title="No costs yet">
        <p>When a model drafts a letter for this client, its cost appears here, by month and by letter.</p>
      </Empty>
    )
  }
  return (
    <div className={classes.costs}>
      <p className={classes.total}>
        <strong>{moneyText(total, currency)}</strong> for generation in all
      </p>
      <Months months={months} currency={currency} />
      <Letters costs={costs} />
    </div>
  )
}

function Months({ months, currency }: { readonly months: ClientCosts['by_month']; readonly currency: string }) {
  // Only for the bars. The amounts are shown exactly.
  const most = Math.max(...months.map(({ cost }) => Number(cost)))
  return (
    <section className={table.frame} aria-labelledby="costs-by-month">
      <h2 id="costs-by-month">By month</h2>
      <table className={table.table}>
        <thead>
          <tr>
            <th>Month</th>
            <th className={classes.number}>Requests</th>
            <th className={`${classes.number} ${table.wide}`}>Input tokens</th>
            <th className={`${classes.number} ${table.wide}`}>Output tokens</th>
            <th className={classes.number}>Cost</th>
          </tr>
        </thead>
        <tbody>
          {months.map(({ month, requests, input_tokens: read, output_tokens: written, cost }) => (
            <tr key={month}>
              <td className={table.strong}>
                {monthText(month.slice(0, 7))}
                <svg className={classes.bar} width="100%" height="4" aria-hidden>
                  <rect width={`${most > 0 ? (Number(cost) / most) * 100 : 0}%`} height="4" rx="2" />
                </svg>
              </td>
              <td className={classes.number}>{numberText(requests)}</td>
              <td className={`${classes.number} ${table.wide}`}>{numberText(read)}</td>
              <td className={`${classes.number} ${table.wide}`}>{numberText(written)}</td>
              <td className={`${classes.number} ${table.strong}`}>{moneyText(cost, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Letters({
  costs: { by_letter: letters, not_kept: notKept, by_api: byApi, currency },
}: {
  readonly costs: ClientCosts
}) {
  const { id } = useRecord()
  return (
    <section className={table.frame} aria-labelledby="costs-by-letter">
      <h2 id="costs-by-letter">By letter</h2>
      <table className={table.table}>
        <thead>
          <tr>
            <th>Letter</th>
            <th className={classes.number}>Drafts</th>
            <th className={classes.number}>Cost</th>
          </tr>
        </thead>
        <tbody>
          {letters.map(({ letter, requests, cost }) => (
            <tr key={letter.id}>
              <td className={table.strong}>
                {letter.archived ? (
                  `${letter.subject} (archived)`
                ) : (
                  <Link to={`/clients/${id}/letters/${letter.id}`}>{letter.subject}</Link>
                )}
              </td>
              <td className={classes.number}>{numberText(requests)}</td>
              <td className={`${classes.number} ${table.strong}`}>{moneyText(cost, currency)}</td>
            </tr>
          ))}
          <Other name="Drafts that were not kept" cost={notKept} currency={currency} />
          <Other name="Requests through the API" cost={byApi} currency={currency} />
        </tbody>
      </table>
    </section>
  )
}

function Other({ name, cost, currency }: { readonly name: string; readonly cost: string; readonly currency: string }) {
  if (/^[0.]*$/.test(cost)) return null
  return (
    <tr>
      <td>{name}</td>
      <td className={classes.number}>–</td>
      <td className={`${classes.number} ${table.strong}`}>{moneyText(cost, currency)}</td>
    </tr>
  )
}
