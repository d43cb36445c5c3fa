import { useRef } from 'react'
import { Link } from 'react-router'
import type { ListedInvoice } from '../../../src/invoicing/schema.ts'
import { useRowKeys } from '../../components/rows.ts'
import tables from '../../components/table.module.css'
import { Ago, Day } from '../../components/time.tsx'
import { moneyText } from '../../money.ts'
import { invoiceKindNames } from '../../words.ts'
import classes from './invoices.module.css'
import { Payer } from './payer.tsx'
import { InvoiceState } from './state.tsx'

/** The list. The arrows, or j and k, go from row to row; Enter opens one. */
export function InvoiceTable({ invoices }: { readonly invoices: readonly ListedInvoice[] }) {
  const table = useRef<HTMLTableElement>(null)
  const onKeyDown = useRowKeys(table)
  return (
    <div className={tables.frame}>
      <table ref={table} className={tables.table} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            <th scope="col">Number</th>
            <th scope="col" className={tables.wide}>
              Kind
            </th>
            <th scope="col">Payer</th>
            <th scope="col" className={tables.wide}>
              Issued
            </th>
            <th scope="col" className={tables.wide}>
              Due
            </th>
            <th scope="col" className={classes.amount}>
              Total
            </th>
            <th scope="col" className={`${classes.amount} ${tables.wide}`}>
              Open
            </th>
            <th scope="col" className={tables.wide}>
              State
            </th>
          </tr>
        </thead>
        <tbody>
          {invoices.map((invoice) => (
            <Row key={invoice.id} invoice={invoice} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ invoice }: { readonly invoice: ListedInvoice }) {
  const { id, kind, number, status, payer, issued_on: issued, due_on: due, gross, open, currency } = invoice
  const { reminded_at: reminded } = invoice
  const isPayable = kind === 'invoice' && number !== null
  return (
    <tr>
      <td>
        <Link to={`/invoices/${id}`} data-row className={classes.number}>
          {number ?? 'Draft'}
        </Link>
        <span className={classes.narrow}>{invoiceKindNames[kind]}</span>
      </td>
      <td className={`${classes.kind} ${tables.wide}`}>{invoiceKindNames[kind]}</td>
      <td className={classes.payer}>
        <Payer payer={payer} />
      </td>
      <td className={`${classes.day} ${tables.wide}`}>{issued !== null && <Day date={issued} />}</td>
      <td className={`${classes.day} ${tables.wide}`}>{due !== null && isPayable && <Day date={due} />}</td>
      <td className={`${classes.amount} ${tables.strong}`}>
        {moneyText(gross, currency)}
        <span className={classes.narrow}>
          <InvoiceState status={status} />
        </span>
      </td>
      <td className={`${classes.amount} ${tables.wide}`}>{isPayable ? moneyText(open, currency) : '–'}</td>
      <td className={tables.wide}>
        <InvoiceState status={status} />
        {status === 'overdue' && reminded !== null && (
          <span className={classes.reminded}>
            Reminded <Ago time={reminded} />
          </span>
        )}
      </td>
    </tr>
  )
}
