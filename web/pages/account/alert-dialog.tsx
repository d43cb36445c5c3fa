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
        initial={{ shares: '50, 80, 100', email: '', webhook: '' }}
        save={save}
        onSaved={() => onCreated(created.current?.secret ?? null)}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

interface SharesDialogProps {
  /** The URL of the alert. */
  readonly address: string
  readonly shares: readonly number[]
  readonly onClose: () => void
  readonly onChanged: () => Promise<void>
}

/** Changes the shares at which an alert is sent. */
export function SharesDialog({ address, shares, onClose, onChanged }: SharesDialogProps) {
  return (
    <FormDialog title="Change percentages" onClose={onClose}>
      <EditForm
        label="Change percentages"
        fields={[sharesField]}
        initial={{ shares: shares.join(', ') }}
        save={(values) => change(address, { method: 'PATCH', body: { shares: sharesIn(values['shares']) } })}
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

const sharesField: Field = { name: 'shares', label: 'At (per cent used)', kind: 'line', required: true, maxLength: 60 }

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
]

function alertBody({ shares, email, webhook }: Record<string, Value | null>): object {
  return {
    shares: sharesIn(shares),
    ...(email !== undefined && email !== '' && { email }),
    ...(webhook !== undefined && webhook !== '' && { webhook }),
  }
}

/** `50, 80 %` → 50 and 80. */
function sharesIn(written: Value | null = ''): number[] {
  return String(written)
    .split(/[\s,;%]+/)
    .filter((share) => share !== '')
    .map(Number)
}
