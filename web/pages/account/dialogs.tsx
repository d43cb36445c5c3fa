import { startTransition, useState } from 'react'
import type { BudgetShown } from '../../../src/accounts/budgets/schema.ts'
import type { KeyIssued, KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
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
import { ChangeBudgetDialog, NewBudgetDialog, RaiseDialog } from './budget-dialogs.tsx'
import { IssuedKey } from './issued-key.tsx'
import { keyLimitFields } from './key-limits.ts'
import { NewKeyForm } from './new-key-form.tsx'
import { RotateForm } from './rotate-form.tsx'

/** The dialog that is open. */
export type Opened =
  | { readonly dialog: 'settings' | 'billing' | 'credit' | 'key' }
  | { readonly dialog: 'rotate' | 'limits'; readonly apiKey: KeyShown }
  | { readonly dialog: 'issued'; readonly issued: KeyIssued }
  | { readonly dialog: 'budget'; readonly budget?: BudgetShown }
  | { readonly dialog: 'raise'; readonly budget: BudgetShown }

interface AccountDialogsProps {
  readonly data: AccountData
  readonly opened: Opened | undefined
  readonly open: (dialog: Opened | undefined) => void
  /** Called after a change. Resolves when the page has the account as it is then. */
  readonly onDone: () => Promise<void>
}

export function AccountDialogs({ data, opened, open, onDone }: AccountDialogsProps) {
  const close = () => open(undefined)
  async function done(message: string) {
    notifyDone(message)
    // Opened again before the page has the new data, a form would be based on the old.
    await onDone()
    startTransition(close)
  }
  function issued(key: KeyIssued) {
    open({ dialog: 'issued', issued: key })
    void onDone()
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
        <FormDialog title="New key" onClose={close}>
          <NewKeyForm
            account={data.account}
            models={data.models}
            onIssued={issued}
            onClose={close}
            onLost={() => void onDone()}
          />
        </FormDialog>
      )
    case 'limits':
      return <LimitsDialog data={data} apiKey={opened.apiKey} onClose={close} onDone={done} />
    case 'budget':
      return opened.budget === undefined ? (
        <NewBudgetDialog data={data} onClose={close} onDone={done} />
      ) : (
        <ChangeBudgetDialog data={data} budget={opened.budget} onClose={close} onDone={done} />
      )
    case 'raise':
      return <RaiseDialog data={data} budget={opened.budget} onClose={close} onDone={done} />
    case 'rotate':
      return (
        <FormDialog title={`Rotate ${opened.apiKey.name}`} closeOnEscape onClose={close}>
          <RotateForm apiKey={opened.apiKey} onIssued={issued} onClose={close} onLost={() => void onDone()} />
        </FormDialog>
      )
    case 'issued':
      return (
        <FormDialog title="Store this key now" size="lg" onClose={() => undefined}>
          <IssuedKey issued={opened.issued} models={data.models} baseUrl={data.baseUrl} onClose={close} />
        </FormDialog>
      )
  }
}

interface ChangeProps {
  readonly data: AccountData
  readonly onClose: () => void
  readonly onDone: (message: string) => Promise<void>
}

function SettingsDialog({ data: { account }, onClose, onDone }: ChangeProps) {
  const monthly = isPrepaid(account) ? [] : [monthlyField(account.currency)]
  const fields = [nameField, ownField, ...monthly, ...limitFields]
  return (
    <FormDialog title="Name and limits" onClose={onClose}>
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
    </FormDialog>
  )
}

function LimitsDialog({ data: { account }, apiKey, onClose, onDone }: ChangeProps & { readonly apiKey: KeyShown }) {
  const fields = keyLimitFields(account.currency)
  return (
    <FormDialog title={`Limits of ${apiKey.name}`} onClose={onClose}>
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
    </FormDialog>
  )
}

function BillingDialog({ data: { account }, onClose, onDone }: ChangeProps) {
  return (
    <FormDialog title="Billing details" onClose={onClose}>
      <EditForm
        label="Billing details"
        fields={billingFields}
        initial={valuesOf(billingFields, account)}
        version={account.version}
        save={(body, version) => change(`/accounts/${account.id}`, { method: 'PATCH', body, version })}
        onSaved={() => onDone('The billing details were changed.')}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

function CreditDialog({ data: { account }, onClose, onDone }: ChangeProps) {
  const [key] = useState(newKey)
  return (
    <FormDialog title="Add credit" onClose={onClose}>
      <EditForm
        label="Add credit"
        saveLabel="Save"
        fields={creditFields(account.currency)}
        initial={{ amount: '', note: '' }}
        save={(body) => change(`/accounts/${account.id}/credit`, { method: 'POST', body, key })}
        onSaved={() => onDone('The credit was changed.')}
        onCancel={onClose}
      />
    </FormDialog>
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
