import { startTransition, useState } from 'react'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { clearAmount } from '../../../src/platform/text/typed-amount.ts'
import { ApiError, change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { Field } from '../../fields.ts'
import { decimalMark } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { today } from '../../zone.ts'
import classes from './invoice.module.css'
import { methodNames } from './payments.tsx'

interface PaymentDialogProps {
  readonly invoice: ShownInvoice
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

/** Records a payment, by default of all that is open. A negative amount is returned to the payer. */
export function PaymentDialog({ invoice: { id, open, currency }, onClose, onDone }: PaymentDialogProps) {
  const [key] = useState(newKey)
  return (
    <FormDialog title="Record a payment" onClose={onClose}>
      <p className={classes.about}>{aboutOpen(open, currency)}</p>
      <EditForm
        label="Record a payment"
        saveLabel="Record payment"
        fields={fieldsFor(currency)}
        initial={{ amount: clearAmount(open, decimalMark()), date: today(), method: 'transfer', reference: '' }}
        save={async (body) => {
          try {
            await change(`/invoices/${id}/payments`, { method: 'POST', body, key })
          } catch (error) {
            // A payment made elsewhere may be why. After a lost response, the page would be replaced by an error.
            if (error instanceof ApiError && error.refusal.field === 'amount') void onDone()
            throw error
          }
        }}
        onSaved={async () => {
          notifyDone('The payment was recorded.')
          // The next payment is by default of what is open then.
          await onDone()
          startTransition(onClose)
        }}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

function aboutOpen(open: string, currency: string): string {
  if (!open.startsWith('-')) return `${moneyText(open, currency)} is open.`
  return `Overpaid by ${moneyText(open.slice(1), currency)}. A negative amount is returned to the payer.`
}

const fieldsFor = (currency: string): readonly Field[] => [
  { name: 'amount', label: `Amount (${currency})`, kind: 'amount', required: true, maxLength: 40 },
  { name: 'date', label: 'Date', kind: 'date', required: true },
  { name: 'method', label: 'Method', kind: 'choice', choices: methodNames },
  { name: 'reference', label: 'Reference', kind: 'line', maxLength: 200, placeholder: 'The text of the transfer' },
]
