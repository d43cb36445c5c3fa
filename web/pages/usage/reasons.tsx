import { Link, useLocation } from 'react-router'
import type { UsagePageData } from '../../../src/usage/schema.ts'
import tables from '../../components/table.module.css'
import { numberText } from '../../locale.ts'
import { spoken } from '../../words.ts'
import classes from './usage.module.css'

/** Why requests were refused, with a link to those of each reason. */
export function Reasons({ refusals }: Pick<UsagePageData, 'refusals'>) {
  const { search } = useLocation()
  if (refusals.length === 0) return null
  return (
    <section className={classes.section} aria-labelledby="refusals">
      <header className={classes.bar}>
        <h2 id="refusals">Refused requests</h2>
      </header>
      <div className={tables.frame}>
        <table className={`${tables.table} ${classes.numbers}`}>
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <th scope="col">Requests</th>
            </tr>
          </thead>
          <tbody>
            {refusals.map(({ code, requests }) => (
              <tr key={code}>
                <th scope="row">
                  <Link to={`/usage/requests?${withCode(search, code)}`}>{spoken(code)}</Link>
                </th>
                <td className={tables.strong}>{numberText(requests)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function withCode(search: string, code: string): string {
  const parameters = new URLSearchParams(search)
  parameters.set('code', code)
  return parameters.toString()
}
