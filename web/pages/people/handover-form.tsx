import { Alert, Button, Group, Loader, VisuallyHidden } from '@mantine/core'
import { useEffect, useState } from 'react'
import { change, read, reasonOf } from '../../api.ts'
import type { ListedPerson, PeopleList, ShownHandover } from '../../../src/people/schema.ts'
import { PersonChoice } from '../../components/person-choice.tsx'
import { numberText } from '../../locale.ts'
import { counted } from '../../words.ts'
import classes from './people.module.css'

interface HandoverFormProps {
  readonly person: ListedPerson
  readonly people: PeopleList['people']
  readonly onClose: () => void
  readonly onDone: (message: string) => Promise<void>
}

/** Assigns all clients of a person to another, after showing which. */
export function HandoverForm({ person, people, onClose, onDone }: HandoverFormProps) {
  const [to, setTo] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const preview = usePreview(person.id, to, setError)
  const total = preview ? preview.active + preview.archived : 0
  const receivers = people.filter(
    ({ id, status, role }) => id !== person.id && status === 'active' && role !== 'developer',
  )

  async function handOver() {
    setBusy(true)
    setError(undefined)
    try {
      const { handed_over: moved } = await change<{ handed_over: number }>(`/people/${person.id}/handover`, {
        method: 'POST',
        body: { to },
      })
      const receiver = receivers.find(({ id }) => id === to)?.name ?? ''
      await onDone(`${counted(moved, 'client')} handed over to ${receiver}.`)
    } catch (thrown) {
      setError(reasonOf(thrown))
      setBusy(false)
    }
  }

  return (
    <>
      <PersonChoice label="To" data-autofocus disabled={busy} people={receivers} value={to} onChange={setTo} />
      <div aria-live="polite" className={classes.preview}>
        {preview ? <Preview preview={preview} /> : !error && <Loading />}
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
        <Button
          loading={busy}
          disabled={to === '' || total === 0 || (preview?.conflicts.length ?? 0) > 0}
          onClick={() => void handOver()}
        >
          {total === 0 ? 'Hand over' : `Hand over ${counted(total, 'client')}`}
        </Button>
      </Group>
    </>
  )
}

function Loading() {
  return (
    <>
      <Loader size="sm" aria-hidden />
      <VisuallyHidden>Loading</VisuallyHidden>
    </>
  )
}

function usePreview(from: string, to: string, onError: (reason: string | undefined) => void) {
  const [shown, show] = useState<ShownHandover>()
  useEffect(() => {
    const leaving = new AbortController()
    const query = to === '' ? '' : `?to=${to}`
    onError(undefined)
    read<ShownHandover>(`/people/${from}/handover${query}`, leaving.signal).then(show, (error: unknown) => {
      if (!leaving.signal.aborted) onError(reasonOf(error))
    })
    return () => leaving.abort()
  }, [from, to, onError])
  return shown
}

function Preview({ preview }: { readonly preview: ShownHandover }) {
  const { active, archived, clients, conflicts } = preview
  if (active + archived === 0) return <p>There are no clients to hand over.</p>
  const more = active + archived - clients.length
  return (
    <>
      <p>
        {counted(active, 'active client')} and {numberText(archived)} archived:
      </p>
      <ul className={classes.clients}>
        {clients.map(({ id, name, reference, status }) => (
          <li key={id}>
            {name}
            {reference !== null && ` (${reference})`}
            {status === 'archived' && ', archived'}
          </li>
        ))}
        {more > 0 && <li>and {numberText(more)} more</li>}
      </ul>
      {conflicts.length > 0 && (
        <Alert color="orange" variant="light" role="alert" title="Both have clients with the same reference">
          Change these references first:{' '}
          {conflicts.map(({ reference, name }) => `${reference ?? ''} (${name})`).join(', ')}
        </Alert>
      )}
    </>
  )
}
