import { Badge } from '@mantine/core'
import type { InvoiceStatus } from '../../../src/invoicing/schema.ts'
import { invoiceStatusNames } from '../../words.ts'
import classes from './invoices.module.css'

const colors: Readonly<Record<InvoiceStatus, string>> = {
  draft: 'gray',
  open: 'harbour',
  partly_paid: 'harbour',
  overdue: 'orange',
  paid: 'teal',
  credited: 'gray',
  issued: 'teal',
  void: 'gray',
}

/** The state of an invoice or a credit note. */
export function InvoiceState({ status }: { readonly status: InvoiceStatus }) {
  return (
    <Badge className={classes.state} color={colors[status]}>
      {invoiceStatusNames[status]}
    </Badge>
  )
}
