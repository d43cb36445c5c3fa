import { Button } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { TimeEntry } from '../../../src/clients/schema.ts'
import { durationText } from '../../duration.ts'
import { nouns, sentBody } from '../../fields.ts'
import { dayAt } from '../../zone.ts'
import { confirm } from '../confirm.tsx'
import { createMaker } from '../create.ts'
import { EditForm } from '../edit-form.tsx'
import { FormDialog } from '../form-dialog.tsx'
import { notifyDone, notifyFailure } from '../notify.ts'
import { noteRecorded } from './recorded.ts'
import { closeRecording, endTimer, minutesOf, type ShownTimer } from './timer.ts'

/** Proposes the time of a stopped timer as a time entry, which the person records or deletes. */
export function TimerDialog({ timer }: { readonly timer: ShownTimer }) {
  const { client, text, startedAt } = timer
  const { fields } = nouns.time_entry
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  // With the id of the timer as its key, it is recorded once, however many pages show it.
  const [make] = useState(() => createMaker<TimeEntry>(`/clients/${client.id}/time_entries`, {}, timer.id))

  async function end(done: string) {
    setBusy(true)
    try {
      await endTimer(timer)
      notifyDone(done)
      await revalidate()
    } catch (error) {
      notifyFailure('The timer was not removed', error)
    } finally {
      setBusy(false)
    }
  }
  async function remove() {
    const sure = await confirm({
      title: `Delete ${durationText(minutesOf(timer))}?`,
      text: `The time for ${client.name} is not recorded and cannot be recovered.`,
      action: 'Delete',
    })
    if (sure) await end('The time was deleted.')
  }

  return (
    <FormDialog title={`Time for ${client.name}`} onClose={closeRecording}>
      <EditForm
        label="New time entry"
        saveLabel="Record time"
        fields={fields}
        initial={{
          date: dayAt(Date.parse(startedAt)),
          minutes: String(minutesOf(timer)),
          text,
          rate: '',
          billable: 'true',
        }}
        startsAt={text === '' ? 'text' : 'minutes'}
        save={(body) => make(sentBody(fields, body))}
        onSaved={async () => {
          noteRecorded(client.id)
          await end('The time was recorded.')
        }}
        onCancel={closeRecording}
      />
      <Button variant="subtle" color="red" mt="xs" disabled={busy} onClick={() => void remove()}>
        Delete the time
      </Button>
    </FormDialog>
  )
}
