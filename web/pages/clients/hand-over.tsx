import { Alert, Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { ChangedSelection, SelectedHandedOver } from '../../../src/clients/schema.ts'
import { ApiError, change, reasonOf } from '../../api.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { useReceivers } from '../../components/people-names.ts'
import { PersonChoice } from '../../components/person-choice.tsx'
import { numberText } from '../../locale.ts'
import { believed } from '../../wire.ts'
import { counted } from '../../words.ts'
import classes from './selection.module.css'
import type { Selected, Selection } from './selection.ts'

interface HandOverProps {
  readonly selection: Selection
  readonly onClose: () => void
  readonly onDone: (message: string) => void
}

/** Assigns the selected clients to a person, after showing whose they are. */
export function HandOverDialog({ selection, onClose, onDone }: HandOverProps) {
  const [to, setTo] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const people = useReceivers()
  const clients = [...selection.clients.values()]
  const moved = clients.filter(({ consultant }) => consultant.id !== to)
  const receiver = people.find(({ id }) => id === to)?.name ?? ''

  async function handOver() {
    setBusy(true)
    setError(undefined)
    try {
      const { handed_over: count } = await change<SelectedHandedOver>('/clients/handover', {
        method: 'POST',
        body: { clients: clients.map(({ id, version }) => ({ id, version })), to },
      })
      onDone(`${counted(count, 'client')} handed over to ${receiver}.`)
    } catch (thrown) {
      if (thrown instanceof ApiError && thrown.status === 412) {
        selection.refresh(believed<ChangedSelection>(thrown.current).clients)
      }
      setError(reasonOf(thrown))
      setBusy(false)
    }
  }

  return (
    <FormDialog title={`Hand over ${counted(clients.length, 'client')}`} closeOnEscape onClose={onClose}>
      <PersonChoice label="To" data-autofocus disabled={busy} people={people} value={to} onChange={setTo} />
      <div className={classes.preview} aria-live="polite">
        <Preview clients={clients} to={to} receiver={receiver} />
      </div>
      {error !== undefined && (
        <Alert color="red" variant="light" role="alert" title="Nothing was handed over">
          {error}
        </Alert>
      )}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" disabled={busy} onClick={onClose}>
          Cancel
        </Button>
        <Button loading={busy} disabled={to === '' || moved.length === 0} onClick={() => void handOver()}>
          {to === '' ? 'Hand over' : `Hand over ${counted(moved.length, 'client')}`}
        </Button>
      </Group>
    </FormDialog>
  )
}

interface PreviewProps {
  readonly clients: readonly Selected[]
  readonly to: string
  readonly receiver: string
}

/** Whose the clients are now. Those of the receiving person stay. */
function Preview({ clients, to, receiver }: PreviewProps) {
  const owners = Map.groupBy(clients, ({ consultant }) => consultant.id)
  const kept = owners.get(to)?.length ?? 0
  return (
    <>
      {[...owners]
        .filter(([id]) => id !== to)
        .map(([id, own]) => (
          <section key={id} className={classes.owner}>
            <h3>
              {counted(own.length, 'client')} of <bdi>{own[0]?.consultant.name}</bdi>
            </h3>
            <ul>
              {own.map(({ id: client, name, reference, status }) => (
                <li key={client}>
                  <bdi>{name}</bdi>
                  {reference !== null && ` (${reference})`}
                  {status === 'archived' && ', archived'}
                </li>
              ))}
            </ul>
          </section>
        ))}
      {kept > 0 && (
        <p>
          {numberText(kept)} of them {kept === 1 ? 'is' : 'are'} with {receiver} already and{' '}
          {kept === 1 ? 'stays' : 'stay'}.
        </p>
      )}
    </>
  )
}
