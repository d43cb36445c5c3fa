import { SegmentedControl } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import type { UsageFigures, UsagePageData, UsageRow } from '../../../src/usage/schema.ts'
import tables from '../../components/table.module.css'
import { numberText, percentText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { nameOfModel } from './chart.tsx'
import classes from './usage.module.css'

const kinds = {
  models: 'Models',
  accounts: 'Accounts',
  keys: 'Keys',
  clients: 'Clients',
} as const
type Kind = keyof typeof kinds

/** The period by model, account, key or client, each with its share of the cost. */
export function Breakdowns({ data }: { readonly data: UsagePageData }) {
  const [kind, setKind] = useState<Kind>('models')
  const { rows, others } = data[kind]
  return (
    <section className={classes.section} aria-labelledby="breakdown">
      <header className={classes.bar}>
        <h2 id="breakdown">Breakdown</h2>
        <SegmentedControl
          aria-label="Breakdown by"
          size="xs"
          data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
          value={kind}
          onChange={(value) => setKind(kindOf(value))}
        />
      </header>
      <div className={tables.frame}>
        <table className={`${tables.table} ${classes.numbers}`}>
          <thead>
            <tr>
              <th scope="col">{kinds[kind].slice(0, -1)}</th>
              <th scope="col">Requests</th>
              <th scope="col" className={tables.wide}>
                Input tokens
              </th>
              {data.total.cached_tokens > 0 && (
                <th scope="col" className={tables.wide}>
                  Cached
                </th>
              )}
              {data.total.cache_write_tokens > 0 && (
                <th scope="col" className={tables.wide}>
                  Cache writes
                </th>
              )}
              <th scope="col" className={tables.wide}>
                Output tokens
              </th>
              <th scope="col" className={tables.wide}>
                Refused
              </th>
              <th scope="col">Cost</th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={idOf(row)} name={<Name kind={kind} row={row} />} figures={row} data={data} />
            ))}
            {others && <Row name="All others" figures={others} data={data} />}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const kindOf = (value: string): Kind =>
  (['accounts', 'keys', 'clients'] as const).find((kind) => kind === value) ?? 'models'
const idOf = ({ model, key, person, client, account }: UsageRow): string =>
  [model, key?.id, person?.id, client?.id, account?.id].join()

interface RowProps {
  readonly name: ReactNode
  readonly figures: UsageFigures
  readonly data: UsagePageData
}

function Row({ name, figures, data: { total, currency } }: RowProps) {
  const share = Number(total.cost) === 0 ? 0 : Number(figures.cost) / Number(total.cost)
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{numberText(figures.requests)}</td>
      <td className={tables.wide}>{numberText(figures.input_tokens)}</td>
      {total.cached_tokens > 0 && <td className={tables.wide}>{numberText(figures.cached_tokens)}</td>}
      {total.cache_write_tokens > 0 && <td className={tables.wide}>{numberText(figures.cache_write_tokens)}</td>}
      <td className={tables.wide}>{numberText(figures.output_tokens)}</td>
      <td className={tables.wide}>{numberText(figures.refused)}</td>
      <td className={tables.strong}>{moneyText(figures.cost, currency)}</td>
      <td className={classes.share}>
        <span>{percentText(share)}</span>
        <i style={{ width: `${share * 100}%` }} />
      </td>
    </tr>
  )
}

/** A link that selects the row's requests alone. */
function Name({ kind, row }: { readonly kind: Kind; readonly row: UsageRow }) {
  const { search } = useLocation()
  const { model, key, person, client, account } = row
  const select = (name: string, value: string, text: string) => {
    const parameters = new URLSearchParams(search)
    parameters.set(name, value)
    return <Link to={`/usage?${parameters.toString()}`}>{text}</Link>
  }
  switch (kind) {
    case 'models':
      return model ? select('model', model, model) : nameOfModel('')
    case 'accounts':
      return account && select('account', account.id, account.name ?? account.id)
    case 'keys': {
      const spender = key ?? person
      if (!spender) return 'No key'
      return (
        <>
          {select('key', spender.id, spender.name ?? spender.id)}
          <small>{account?.name}</small>
        </>
      )
    }
    case 'clients':
      return client ? select('client', client.id, client.name ?? client.id) : 'No client'
  }
}
