import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { UnbilledList } from '../../../src/invoicing/unbilled/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { newKey } from '../../components/create.ts'
import { notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import { Day } from '../../components/time.tsx'
import { monthText, numberText } from '../../locale.ts'
import { moneyText, roundedMoneyText } from '../../money.ts'
import classes from './unbilled.module.css'

type UnbilledRow = UnbilledList['unbilled'][number]

interface UnbilledTableProps {
  readonly rows: readonly UnbilledRow[]
  readonly until: string
  readonly currency: string
}

/** A row for each client and account, with a button that drafts an invoice. */
export function UnbilledTable({ rows, until, currency }: UnbilledTableProps) {
  return (
    <div className={tables.frame}>
      <table className={tables.table}>
        <thead>
          <tr>
            <th scope="col">Payer</th>
            <th scope="col" className={`${classes.amount} ${tables.wide}`}>
              Items
            </th>
            <th scope="col" className={tables.wide}>
              Oldest
            </th>
            <th scope="col" className={classes.amount}>
              Amount
            </th>
            <ActionsHead />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.payer.id}>
              <td className={classes.payer}>
                <Link to={`/${row.payer.kind === 'client' ? 'clients' : 'accounts'}/${row.payer.id}`}>
                  {row.payer.name}
                </Link>
                {row.payer.deleted ? ' (deleted)' : row.payer.archived && ' (archived)'}
              </td>
              <td className={`${classes.amount} ${tables.wide}`}>{numberText(row.items)}</td>
              <td className={`${classes.day} ${tables.wide}`}>
                {row.month === null ? <Day date={row.oldest} /> : monthText(row.month)}
              </td>
              <td className={`${classes.amount} ${tables.strong}`} title={moneyText(row.amount, currency)}>
                {roundedMoneyText(row.amount, currency)}
              </td>
              <td className={tables.actions}>
                {!row.payer.archived && !row.payer.deleted && <DraftButton row={row} until={until} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A client is billed for everything until the day, an account for its oldest month. */
function DraftButton({ row: { payer, month }, until }: { readonly row: UnbilledRow; readonly until: string }) {
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const [key] = useState(newKey)

  async function draft() {
    setBusy(true)
    const body = month === null ? { client: payer.id, unbilled_until: until } : { account: payer.id, month }
    try {
      const { id } = await change<{ id: string }>('/invoices', { method: 'POST', body, key })
      await navigate(`/invoices/${id}`)
    } catch (error) {
      notifyFailure('No invoice was drafted', error)
    } finally {
      setBusy(false)
    }
  }

  const label = month === null ? 'Draft' : `Draft ${monthText(month)}`
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={busy}
      onClick={() => void draft()}
      aria-label={`${label} for ${payer.name}`}
    >
      {label}
    </Button>
  )
}
