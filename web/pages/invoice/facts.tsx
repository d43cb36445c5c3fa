import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { Day } from '../../components/time.tsx'
import { monthText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { counted, disputeStatusNames } from '../../words.ts'
import { Payer } from '../invoices/payer.tsx'
import classes from './invoice.module.css'

/** Who pays how much by when, and the invoices that it is connected with. */
export function Facts({ invoice }: { readonly invoice: ShownInvoice }) {
  const { kind, number, currency, gross, open, month, payer, credits, credit_notes: notes } = invoice
  const { issued_on: issued, due_on: due, days_to_pay: days, supply, disputes } = invoice
  const isPayable = kind === 'invoice' && number !== null
  return (
    <dl className={classes.facts}>
      <Fact name={isPayable ? 'Open' : 'Total'} className={classes.main}>
        {moneyText(isPayable ? open : gross, currency)}
        {isPayable && <small>of {moneyText(gross, currency)}</small>}
      </Fact>
      <Fact name="Payer">
        <Payer payer={payer} />
        <small>{payer.kind === 'client' ? 'Client' : 'Account'}</small>
      </Fact>
      {issued !== null && (
        <Fact name="Issued">
          <Day date={issued} />
        </Fact>
      )}
      {due !== null && isPayable && (
        <Fact name="Due">
          <Day date={due} />
        </Fact>
      )}
      {number === null && kind === 'invoice' && days !== null && (
        <Fact name="To pay within">{counted(days, 'day', 'days')}</Fact>
      )}
      {month !== null && <Fact name="Usage of">{monthText(month)}</Fact>}
      {month === null && supply !== null && (
        <Fact name="Supply">
          <Day date={supply.from} />
          {supply.to !== supply.from && (
            <>
              {' – '}
              <Day date={supply.to} />
            </>
          )}
        </Fact>
      )}
      {credits !== null && (
        <Fact name="Corrects">
          <Other invoice={credits} />
        </Fact>
      )}
      {notes.length > 0 && (
        <Fact name={notes.length === 1 ? 'Credit note' : 'Credit notes'}>
          {notes.map((note) => (
            <Other key={note.id} invoice={note} />
          ))}
        </Fact>
      )}
      {disputes.length > 0 && (
        <Fact name={disputes.length === 1 ? 'Dispute' : 'Disputes'} className={classes.onScreen}>
          {disputes.map(({ id, amount, status }) => (
            <span key={id} className={classes.other}>
              <Link to={`/clients/${payer.id}/disputes/${id}`}>{moneyText(amount, currency)}</Link>
              <small>{disputeStatusNames[status]}</small>
            </span>
          ))}
        </Fact>
      )}
    </dl>
  )
}

interface FactProps {
  readonly name: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

function Fact({ name, className, children }: FactProps) {
  return (
    <div className={className}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Other({ invoice: { id, number } }: { readonly invoice: ShownInvoice['credit_notes'][number] }) {
  return (
    <Link className={classes.other} to={`/invoices/${id}`}>
      {number ?? 'Draft'}
    </Link>
  )
}
