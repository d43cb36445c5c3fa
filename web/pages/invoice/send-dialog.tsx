import { startTransition, useState } from 'react'
import type { ProposedMail } from '../../../src/invoicing/mail/schema.ts'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { Field } from '../../fields.ts'
import classes from './invoice.module.css'

interface SendDialogProps {
  readonly invoice: Pick<ShownInvoice, 'id'>
  readonly mail: ProposedMail
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

/** Sends an invoice or a reminder, with the firm's words or those typed here. */
export function SendDialog({ invoice: { id }, mail, onClose, onDone }: SendDialogProps) {
  const [key] = useState(newKey)
  const { kind, to, subject, message, file } = mail
  const label = kind === 'invoice' ? 'Send by mail' : 'Send a reminder'
  return (
    <FormDialog title={label} onClose={onClose}>
      <p className={classes.about}>With {file} attached. The mail is kept here as it was sent.</p>
      <EditForm
        label={label}
        saveLabel={kind === 'invoice' ? 'Send' : 'Send reminder'}
        fields={fields}
        initial={{ to: to ?? '', cc: '', subject, message }}
        save={async ({ cc, ...typed }) => {
          const body = cc === '' || cc === null ? typed : { ...typed, cc }
          const path = kind === 'invoice' ? 'send' : 'remind'
          await change(`/invoices/${id}/${path}`, { method: 'POST', body, key })
        }}
        onSaved={async () => {
          notifyDone('The mail is on its way.')
          await onDone()
          startTransition(onClose)
        }}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

const fields: readonly Field[] = [
  { name: 'to', label: 'To', kind: 'line', required: true, maxLength: 254, placeholder: 'name@example.com' },
  { name: 'cc', label: 'Copy to', kind: 'line', maxLength: 254, placeholder: 'name@example.com' },
  { name: 'subject', label: 'Subject', kind: 'line', required: true, maxLength: 200 },
  { name: 'message', label: 'Text', kind: 'lines', required: true, maxLength: 5000 },
]
