import { useState } from 'react'
import { Link, useLoaderData, useRevalidator } from 'react-router'
import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { read } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import { useOpened } from '../../components/opened.ts'
import { Page } from '../../components/page.tsx'
import { invoiceKindNames } from '../../words.ts'
import { InvoiceState } from '../invoices/state.tsx'
import { InvoiceActions } from './actions.tsx'
import { EditDraft } from './edit-draft.tsx'
import { Facts } from './facts.tsx'
import classes from './invoice.module.css'
import { Lines } from './lines.tsx'
import { Parties } from './parties.tsx'
import { Payments } from './payments.tsx'
import { Sent } from './sent.tsx'
import { Totals } from './totals.tsx'

/** One invoice or credit note, which can be printed; for partners. */
export function InvoicePage() {
  const invoice = useLoaderData<ShownInvoice>()
  const { revalidate } = useRevalidator()
  const title = titleOf(invoice)
  const [start, setStart] = useState<DraftOptions>()
  const { isOpen: isChanging, opener, open, close } = useOpened()
  const { payer } = invoice
  async function edit() {
    try {
      setStart(await read<DraftOptions>(`/invoices/new?${payer.kind}=${payer.id}`))
      open()
    } catch (error) {
      notifyFailure('The draft cannot be changed now', error)
    }
  }
  async function edited() {
    await revalidate()
    close()
  }
  if (start && isChanging) {
    return (
      <Page title={title} heading={<Heading invoice={invoice} title={title} />}>
        <EditDraft invoice={invoice} start={start} onDone={edited} />
      </Page>
    )
  }
  return (
    <Page
      title={title}
      heading={<Heading invoice={invoice} title={title} />}
      actions={
        <InvoiceActions
          key={invoice.id}
          editor={opener}
          onEdit={() => void edit()}
          {...{ invoice, onDone: revalidate }}
        />
      }
    >
      <Facts invoice={invoice} />
      <Parties invoice={invoice} />
      <Lines invoice={invoice} />
      <Totals invoice={invoice} />
      {invoice.note !== '' && (
        <section className={classes.section} aria-label="Note">
          <p className={classes.note}>{invoice.note}</p>
        </section>
      )}
      {invoice.kind === 'invoice' && invoice.number !== null && <Payments invoice={invoice} onDone={revalidate} />}
      {invoice.number !== null && <Sent invoice={invoice} onDone={revalidate} />}
    </Page>
  )
}

function Heading({ invoice: { status }, title }: { readonly invoice: ShownInvoice; readonly title: string }) {
  return (
    <div>
      <Link className={classes.back} to="/invoices">
        Invoices
      </Link>
      <span className={classes.heading}>
        <h1>{title}</h1>
        {status !== 'draft' && <InvoiceState status={status} />}
      </span>
    </div>
  )
}

/** `Invoice INV-2026-0017`, `Draft of a credit note`. */
function titleOf({ kind, number }: ShownInvoice): string {
  if (number !== null) return `${invoiceKindNames[kind]} ${number}`
  return kind === 'invoice' ? 'Draft of an invoice' : 'Draft of a credit note'
}
