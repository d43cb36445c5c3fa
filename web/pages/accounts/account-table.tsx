import { Badge, UnstyledButton } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { GrantedAccountShown } from '../../../src/accounts/schema.ts'
import tables from '../../components/table.module.css'
import { Ago } from '../../components/time.tsx'
import { numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './accounts.module.css'
import { inOrder, type Column, type Order } from './order.ts'

/** Developers do not see whose it is. */
export type ListedAccount = GrantedAccountShown & { readonly own?: boolean }

interface AccountTableProps {
  readonly accounts: readonly ListedAccount[]
  /** Those that the search finds, best first. */
  readonly find: (accounts: readonly ListedAccount[]) => readonly ListedAccount[]
}

export function AccountTable({ accounts, find }: AccountTableProps) {
  const [order, setOrder] = useState<Order>({ column: 'name', descending: false })
  const head = { order, setOrder }
  return (
    <div className={tables.frame}>
      <table className={tables.table}>
        <thead>
          <tr>
            <Head {...head} column="name">
              Name
            </Head>
            <Head {...head} column="money" className={classes.amount}>
              Left
            </Head>
            <Head {...head} column="held" className={`${classes.amount} ${tables.wide}`}>
              Held
            </Head>
            <th scope="col" className={`${classes.amount} ${tables.wide}`}>
              Requests/min
            </th>
            <th scope="col" className={`${classes.amount} ${tables.wide}`}>
              Tokens/min
            </th>
            <Head {...head} column="used" className={tables.wide}>
              Last used
            </Head>
          </tr>
        </thead>
        <tbody>
          {find(inOrder(accounts, order)).map((account) => (
            <Row key={account.id} account={account} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface HeadProps {
  readonly order: Order
  readonly setOrder: (order: Order) => void
  readonly column: Column
  readonly className?: string | undefined
  readonly children: ReactNode
}

function Head({ order, setOrder, column, className, children }: HeadProps) {
  const isSorted = order.column === column
  const Arrow = order.descending ? IconArrowDown : IconArrowUp
  return (
    <th
      scope="col"
      className={className}
      aria-sort={isSorted ? (order.descending ? 'descending' : 'ascending') : undefined}
    >
      <UnstyledButton
        className={classes.sort}
        onClick={() => setOrder({ column, descending: isSorted ? !order.descending : column !== 'name' })}
      >
        {children}
        {isSorted && <Arrow size={13} aria-hidden />}
      </UnstyledButton>
    </th>
  )
}

function Row({ account }: { readonly account: ListedAccount }) {
  const { id, name, status, own, currency, held, last_used_at: used } = account
  return (
    <tr>
      <td>
        <span className={classes.name}>
          <Link to={`/accounts/${id}`} data-row>
            {name}
          </Link>
          {own && <Badge>Our own</Badge>}
          {status === 'closed' && <Badge color="gray">Closed</Badge>}
        </span>
      </td>
      <td className={`${classes.amount} ${tables.strong}`}>
        {moneyText(account.credit_left, currency)}
        {account.monthly_limit !== null && (
          <span className={classes.of}> of {moneyText(account.monthly_limit, currency)} a month</span>
        )}
      </td>
      <td className={`${classes.amount} ${tables.wide}`}>{held === '0' ? '–' : moneyText(held, currency)}</td>
      <td className={`${classes.amount} ${tables.wide}`}>{numberText(account.requests_per_minute)}</td>
      <td className={`${classes.amount} ${tables.wide}`}>{numberText(account.tokens_per_minute)}</td>
      <td className={tables.wide}>{used === null ? 'Never' : <Ago time={used} />}</td>
    </tr>
  )
}
