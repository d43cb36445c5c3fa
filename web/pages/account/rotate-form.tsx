import { Alert, Button, Group, NativeSelect } from '@mantine/core'
import { useState } from 'react'
import type { KeyIssued, KeyShown } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import classes from './account.module.css'
import { useIssue } from './use-issue.ts'

interface RotateFormProps {
  readonly apiKey: KeyShown
  readonly onIssued: (key: KeyIssued) => void
  readonly onClose: () => void
  /** Called if a key may exist that was not shown. */
  readonly onLost: () => void
}

const overlaps = [
  { value: '86400', label: '24 hours' },
  { value: '3600', label: '1 hour' },
  { value: '604800', label: '7 days' },
  { value: '0', label: 'Not at all: it is refused at once' },
]

/** Replaces a key by a new one with the same name, models, lifetime and limits. */
export function RotateForm({ apiKey, onIssued, onClose, onLost }: RotateFormProps) {
  const [seconds, setSeconds] = useState('86400')
  const { busy, error, issue } = useIssue({ onIssued, onLost })
  const rotate = () =>
    issue(() => change(`/keys/${apiKey.id}/rotate`, { method: 'POST', body: { overlap_seconds: Number(seconds) } }))
  return (
    <div className={classes.form}>
      <p>The new key has the same name, models, lifetime and limits. The old one stays valid while you replace it.</p>
      <NativeSelect
        label="The old key stays valid"
        data-autofocus
        data={overlaps}
        value={seconds}
        disabled={busy}
        onChange={({ currentTarget }) => setSeconds(currentTarget.value)}
      />
      {error && (
        <Alert color="red" variant="light" role="alert" title={error.status === 0 ? 'No response' : 'No key to show'}>
          {error.message}
        </Alert>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={busy} onClick={onClose}>
          Cancel
        </Button>
        <Button loading={busy} onClick={() => void rotate()}>
          Rotate
        </Button>
      </Group>
    </div>
  )
}
