import { useState } from 'react'
import type { Task } from '../../../src/clients/schema.ts'
import { createMaker } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import { nouns, sentBody } from '../../fields.ts'
import type { ItemNoun } from '../record/items.tsx'
import { useFields } from '../record/use-fields.ts'
import { useRecord } from '../record/use-record.ts'
import { newTask } from './words.ts'

/** What a task can concern besides the client. */
export type Concern = Extract<ItemNoun, 'note' | 'dispute' | 'letter' | 'document'>

const concerns: readonly ItemNoun[] = ['note', 'dispute', 'letter', 'document'] satisfies Concern[]

export const isConcern = (noun: ItemNoun): noun is Concern => concerns.includes(noun)

interface TaskAboutProps {
  readonly noun: Concern
  readonly id: string
  readonly onClose: () => void
}

/** A new task about an item of the record, without leaving it. */
export function TaskAbout({ noun, id, onClose }: TaskAboutProps) {
  const record = useRecord()
  const fields = useFields('task')
  const address = `/clients/${record.id}/tasks`
  const [make] = useState(() => createMaker<Task>(address, { about: { noun, id } }))
  return (
    <FormDialog title={`New task about this ${nouns[noun].one}`} onClose={onClose}>
      <EditForm
        label="New task"
        saveLabel="Add task"
        fields={fields.filter(({ name }) => name !== 'status')}
        initial={newTask}
        keptAs={`${address}#${id}`}
        save={(body) => make(sentBody(fields, body))}
        onSaved={() => {
          notifyDone('The task was added.')
          onClose()
        }}
        onCancel={onClose}
      />
    </FormDialog>
  )
}
