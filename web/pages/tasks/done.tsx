import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { Task } from '../../../src/clients/schema.ts'
import { ApiError, change } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import { notifyUndoable } from '../../components/undo.tsx'
import { useRecord } from '../record/use-record.ts'
import classes from './done.module.css'

interface DoneProps {
  readonly task: Task
  readonly address: string
}

/** Completes a task, or opens it again. */
export function Done({ task, address }: DoneProps) {
  const { status } = useRecord()
  const { revalidate } = useRevalidator()
  const [isBusy, setBusy] = useState(false)
  const isDone = task.status === 'done'

  async function toggle() {
    setBusy(true)
    try {
      await change(address, { method: 'PATCH', version: task.version, body: { status: isDone ? 'open' : 'done' } })
      if (!isDone) {
        notifyUndoable('The task is done.', async () => {
          await change(address, { method: 'PATCH', version: task.version + 1, body: { status: 'open' } })
          await revalidate()
        })
      }
      await revalidate()
    } catch (error) {
      notifyFailure('The task was not changed', error)
      // Someone else was faster: show their version.
      if (error instanceof ApiError && error.status > 0) await revalidate()
    } finally {
      setBusy(false)
    }
  }

  return (
    <Checkbox
      size="sm"
      className={classes.done}
      aria-label={`Done: ${task.title}`}
      checked={isDone}
      disabled={isBusy || status === 'archived' || task.archived_at !== null}
      onChange={() => void toggle()}
    />
  )
}
