import { Alert, Button, Group, TextInput } from '@mantine/core'
import { useEffect, useState, type FormEvent } from 'react'
import type { ErasureEffects } from '../../../src/client-data/schema.ts'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change, read, reasonOf } from '../../api.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import classes from './erasure.module.css'

interface EraseDialogProps {
  readonly record: ClientRecord
  readonly onClose: () => void
  /** Called when the erasure is scheduled. */
  readonly onDone: () => void
}

/** Schedules the erasure of a client: asks for the reason, and for the client's reference or name against mistakes. */
export function EraseDialog({ record, onClose, onDone }: EraseDialogProps) {
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const [effects, setEffects] = useState<readonly string[]>()
  const address = `/clients/${record.id}/erasure`
  useEffect(() => {
    const loading = new AbortController()
    read<ErasureEffects>(address, loading.signal).then(
      (loaded) => setEffects(loaded.effects),
      (thrown: unknown) => loading.signal.aborted || setError(reasonOf(thrown)),
    )
    return () => loading.abort()
  }, [address])
  const word = record.reference ?? record.name
  const isSure = typed.trim().toLowerCase() === word.toLowerCase()

  async function schedule(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await change(address, { method: 'POST', body: { reason } })
      onDone()
    } catch (thrown) {
      setError(reasonOf(thrown))
      setBusy(false)
    }
  }

  return (
    <FormDialog title="Erase client" closeOnEscape={reason === '' && typed === ''} onClose={onClose}>
      <form className={classes.fields} onSubmit={(event) => void schedule(event)}>
        <p>
          After a waiting period, all notes, disputes, letters and drafts of {record.name} are permanently removed, with
          their earlier versions and the client’s name and addresses. Charges and the audit log are kept without them,
          and issued invoices are kept unchanged. Until then, a partner can withdraw the erasure. If you need a copy,
          export the client first.
        </p>
        {effects !== undefined && effects.length > 0 && (
          <Alert color="orange" variant="light" title="Still open for this client">
            <ul className={classes.effects}>
              {effects.map((effect) => (
                <li key={effect}>{effect}</li>
              ))}
            </ul>
          </Alert>
        )}
        <TextInput
          label="Reason"
          description="Kept after the erasure: do not name the client."
          data-autofocus
          required
          maxLength={500}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <TextInput
          label={`Type “${word}” to confirm`}
          required
          autoComplete="off"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        {error !== undefined && (
          <Alert color="red" variant="light" role="alert" title="Nothing was scheduled">
            {error}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs" mt="xs">
          <Button variant="default" disabled={busy} onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            color="red"
            loading={busy}
            disabled={!isSure || reason.trim() === '' || effects === undefined}
          >
            Schedule erasure
          </Button>
        </Group>
      </form>
    </FormDialog>
  )
}
