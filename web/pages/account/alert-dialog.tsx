import { Button, CopyButton, Group } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { AlertCreated } from '../../../src/alerts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Field, Value } from '../../fields.ts'
import classes from './account.module.css'

interface NewAlertDialogProps {
  readonly account: string
  readonly onClose: () => void
  /** Gets the secret of a webhook, which is shown once; null for mail. */
  readonly onCreated: (secret: string | null) => void
}

/** Creates an alert by mail or as a webhook. */
export function NewAlertDialog({ account, onClose, onCreated }: NewAlertDialogProps) {
  const created = useRef<AlertCreated>(undefined)
  const [key] = useState(newKey)
  async function save(values: Record<string, Value | null>): Promise<void> {
    const body = alertBody(values)
    created.current = await change<AlertCreated>(`/accounts/${account}/alerts`, { method: 'POST', body, key })
  }
  return (
    <FormDialog title="New alert" onClose={onClose}>
      <EditForm
        label="New alert"
        saveLabel="Create alert"
        fields={fields}
        initial={{ shares: '50, 80, 100', email: '', webhook: '', batches: 'false' }}
        save={save}
        onSaved={() => onCreated(created.current?.secret ?? null)}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

interface TermsDialogProps {
  /** The URL of the alert. */
  readonly address: string
  readonly alert: Pick<AlertCreated, 'shares' | 'batches' | 'webhook'>
  readonly onClose: () => void
  readonly onChanged: () => Promise<void>
}

/** Changes when an alert is sent. */
export function TermsDialog({ address, alert, onClose, onChanged }: TermsDialogProps) {
  const initial = { shares: alert.shares.join(', '), batches: String(alert.batches) }
  return (
    <FormDialog title="Change alert" onClose={onClose}>
      <EditForm
        label="Change alert"
        fields={alert.webhook === null ? [sharesField] : [sharesField, batchesField]}
        initial={initial}
        // What was not changed is missing from the values.
        save={(values) => change(address, { method: 'PATCH', body: termsIn({ ...initial, ...values }) })}
        onSaved={onChanged}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

interface SecretDialogProps {
  readonly secret: string
  readonly onClose: () => void
}

/** The secret of a webhook, shown once. */
export function SecretDialog({ secret, onClose }: SecretDialogProps) {
  const first = useRef<HTMLButtonElement>(null)
  // The dialog was open with a form before, so it does not move the focus itself.
  useEffect(() => first.current?.focus(), [])
  return (
    <FormDialog title="Store this secret now" onClose={() => undefined}>
      <div className={classes.form}>
        <p>It signs the webhook, and is shown only now. The receiver needs it to verify Tollgate-Signature.</p>
        <code className={classes.secret} aria-label="Secret">
          {secret}
        </code>
        <Group justify="space-between">
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button variant="default" ref={first} onClick={copy}>
                {copied ? 'Copied' : 'Copy secret'}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onClose}>I have stored it</Button>
        </Group>
      </div>
    </FormDialog>
  )
}

const sharesField: Field = { name: 'shares', label: 'At (per cent used)', kind: 'line', maxLength: 60 }
const batchesField: Field = { name: 'batches', label: 'Webhook also when a batch ends', kind: 'flag' }

const fields: readonly Field[] = [
  sharesField,
  { name: 'email', label: 'Mail to', kind: 'line', placeholder: 'paula@example.com', maxLength: 254 },
  {
    name: 'webhook',
    label: 'Or webhook',
    kind: 'line',
    placeholder: 'https://hooks.example.com/tollgate',
    maxLength: 2000,
  },
  batchesField,
]

function alertBody({ email, webhook, ...terms }: Record<string, Value | null>): object {
  return {
    ...termsIn(terms),
    ...(email !== undefined && email !== '' && { email }),
    ...(webhook !== undefined && webhook !== '' && { webhook }),
  }
}

const termsIn = ({ shares, batches }: Record<string, Value | null>): object => ({
  shares: sharesIn(shares),
  batches: batches === 'true',
})

/** `50, 80 %` → 50 and 80. */
function sharesIn(written: Value | null = ''): number[] {
  return String(written)
    .split(/[\s,;%]+/)
    .filter((share) => share !== '')
    .map(Number)
}
