import { Modal } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import type { KeyIssued, KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { notifyDone } from '../../components/notify.ts'
import { sentBody, valuesOf, type Field } from '../../fields.ts'
import {
  billingFields,
  isPrepaid,
  limitFields,
  monthlyField,
  nameField,
  ownField,
  settingsBody,
} from '../accounts/settings-fields.ts'
import classes from './account.module.css'
import type { AccountData } from './account.tsx'
import { IssuedKey } from './issued-key.tsx'
import { keyLimitFields } from './key-limits.ts'
import { NewKeyForm } from './new-key-form.tsx'
import { RotateForm } from './rotate-form.tsx'

/** The dialog that is open. */
export type Opened =
  | { readonly dialog: 'settings' | 'billing' | 'credit' | 'key' }
  | { readonly dialog: 'rotate' | 'limits'; readonly apiKey: KeyShown }
  | { readonly dialog: 'issued'; readonly issued: KeyIssued }

interface AccountDialogsProps {
  readonly data: AccountData
  readonly opened: Opened | undefined
  readonly open: (dialog: Opened | undefined) => void
  /** Called after a change. */
  readonly onDone: () => void
}

export function AccountDialogs({ data, opened, open, onDone }: AccountDialogsProps) {
  const close = () => open(undefined)
  function done(message: string) {
    notifyDone(message)
    close()
    onDone()
  }
  function issued(key: KeyIssued) {
    open({ dialog: 'issued', issued: key })
    onDone()
  }
  switch (opened?.dialog) {
    case undefined:
      return null
    case 'settings':
      return <SettingsDialog data={data} onClose={close} onDone={done} />
    case 'billing':
      return <BillingDialog data={data} onClose={close} onDone={done} />
    case 'credit':
      return <CreditDialog data={data} onClose={close} onDone={done} />
    case 'key':
      return (
        <Dialog title="New key" onClose={close}>
          <NewKeyForm account={data.account} models={data.models} onIssued={issued} onClose={close} onLost={onDone} />
        </Dialog>
      )
    case 'limits':
      return <LimitsDialog data={data} apiKey={opened.apiKey} onClose={close} onDone={done} />
    case 'rotate':
      return (
        <Dialog title={`Rotate ${opened.apiKey.name}`} onClose={close}>
          <RotateForm apiKey={opened.apiKey} onIssued={issued} onClose={close} onLost={onDone} />
        </Dialog>
      )
    case 'issued':
      return (
        <Dialog title="Store this key now" size="lg" onClose={() => undefined}>
          <IssuedKey issued={opened.issued} models={data.models} baseUrl={data.baseUrl} onClose={close} />
        </Dialog>
      )
  }
}

interface DialogProps {
  readonly title: string
  readonly size?: 'lg'
  readonly onClose: () => void
  readonly children: ReactNode
}

function Dialog(props: DialogProps) {
  return <Modal opened closeOnClickOutside={false} withCloseButton={false} {...props} />
}

interface FormDialogProps {
  readonly data: AccountData
  readonly onClose: () => void
  readonly onDone: (message: string) => void
}

function SettingsDialog({ data: { account }, onClose, onDone }: FormDialogProps) {
  const monthly = isPrepaid(account) ? [] : [monthlyField(account.currency)]
  const fields = [nameField, ownField, ...monthly, ...limitFields]
  return (
    <Dialog title="Name and limits" onClose={onClose}>
      <EditForm
        label="Name and limits"
        fields={fields}
        initial={valuesOf(fields, account)}
        version={account.version}
        save={(body, version) =>
          change(`/accounts/${account.id}`, { method: 'PATCH', body: settingsBody(body), version })
        }
        onSaved={() => onDone('The account was changed.')}
        onCancel={onClose}
      />
    </Dialog>
  )
}

function LimitsDialog({ data: { account }, apiKey, onClose, onDone }: FormDialogProps & { readonly apiKey: KeyShown }) {
  const fields = keyLimitFields(account.currency)
  return (
    <Dialog title={`Limits of ${apiKey.name}`} onClose={onClose}>
      <p className={classes.about}>
        In addition to the account’s limits. Days and months are in UTC. A key that replaces this one shares them.
      </p>
      <EditForm
        label={`Limits of ${apiKey.name}`}
        fields={fields}
        initial={valuesOf(fields, apiKey)}
        save={(body) => change(`/keys/${apiKey.id}`, { method: 'PATCH', body: sentBody(fields, body) })}
        onSaved={() => onDone('The limits were changed.')}
        onCancel={onClose}
      />
    </Dialog>
  )
}

function BillingDialog({ data: { account }, onClose, onDone }: FormDialogProps) {
  return (
    <Dialog title="Billing details" onClose={onClose}>
      <EditForm
        label="Billing details"
        fields={billingFields}
        initial={valuesOf(billingFields, account)}
        version={account.version}
        save={(body, version) => change(`/accounts/${account.id}`, { method: 'PATCH', body, version })}
        onSaved={() => onDone('The billing details were changed.')}
        onCancel={onClose}
      />
    </Dialog>
  )
}

function CreditDialog({ data: { account }, onClose, onDone }: FormDialogProps) {
  const [key] = useState(newKey)
  return (
    <Dialog title="Add credit" onClose={onClose}>
      <EditForm
        label="Add credit"
        saveLabel="Save"
        fields={creditFields(account.currency)}
        initial={{ amount: '', note: '' }}
        save={(body) => change(`/accounts/${account.id}/credit`, { method: 'POST', body, key })}
        onSaved={() => onDone('The credit was changed.')}
        onCancel={onClose}
      />
    </Dialog>
  )
}

const creditFields = (currency: string): readonly Field[] => [
  {
    name: 'amount',
    label: `Amount (${currency})`,
    kind: 'amount',
    required: true,
    placeholder: '25.00, or −25.00 to withdraw',
    maxLength: 40,
  },
  { name: 'note', label: 'Note', kind: 'line', placeholder: 'Invoice 1042', maxLength: 1000 },
]
