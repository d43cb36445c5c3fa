import { useState } from 'react'
import type { AccountShown, CreditList } from '../../../src/accounts/schema.ts'
import { read } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import { ShowMore } from '../../components/show-more.tsx'
import tables from '../../components/table.module.css'
import { preciseTime, timeZoneName } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './account.module.css'

interface CreditProps {
  readonly account: AccountShown
  readonly first: CreditList
}

/** The credit added to an account and withdrawn from it. */
export function Credit({ account, first }: CreditProps) {
  const [{ entries, next }, setList] = useState(first)

  async function more() {
    try {
      const page = await read<CreditList>(`/accounts/${account.id}/credit?before=${next ?? ''}`)
      setList({ entries: [...entries, ...page.entries], next: page.next })
    } catch (error) {
      notifyFailure('The next entries were not loaded', error)
    }
  }

  return (
    <section className={classes.section} aria-labelledby="credit">
      <h2 id="credit">Credit</h2>
      {entries.length === 0 ? (
        <p className={classes.none}>No credit has been added yet. Until then, requests are refused.</p>
      ) : (
        <div className={tables.frame}>
          <table className={tables.table}>
            <thead>
              <tr>
                <th scope="col">Time ({timeZoneName()})</th>
                <th scope="col" className={classes.amount}>
                  Amount
                </th>
                <th scope="col">Note</th>
              </tr>
            </thead>
            <tbody>
              {entries.map(({ id, at, amount, note }) => (
                <tr key={id}>
                  <td>
                    <time dateTime={at}>{preciseTime(at)}</time>
                  </td>
                  <td className={`${classes.amount} ${tables.strong}`}>{signed(amount, account.currency)}</td>
                  <td className={classes.note}>{note}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ShowMore shown={entries.length} hasMore={next !== null} onMore={more} />
    </section>
  )
}

function signed(amount: string, currency: string): string {
  return amount.startsWith('-') ? `−${moneyText(amount.slice(1), currency)}` : `+${moneyText(amount, currency)}`
}
