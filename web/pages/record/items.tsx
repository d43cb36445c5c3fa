import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { Dispute, Letter, Note } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { Empty } from '../../components/empty.tsx'
import { useKey } from '../../components/keys.ts'
import { nouns, type Values } from '../../fields.ts'
import { Entry } from './entry.tsx'
import classes from './items.module.css'
import { useRecord } from './use-record.ts'

export type Item = Note | Dispute | Letter
export type ItemNoun = 'note' | 'dispute' | 'letter'

export interface ItemsProps {
  readonly noun: ItemNoun
  readonly items: readonly Item[]
  /** What a new one begins with. */
  readonly blank: Values
  /** Why one would write the first. */
  readonly emptyText: string
}

/** All notes, disputes or letters of a record, and the form for a new one. */
export function Items({ noun, items, blank, emptyText }: ItemsProps) {
  const { id, status } = useRecord()
  const isArchived = status === 'archived'
  const { one, many, path, fields } = nouns[noun]
  const { revalidate } = useRevalidator()
  const [adding, setAdding] = useState(false)
  useKey('n', (event) => {
    if (isArchived) return
    event.preventDefault()
    setAdding(true)
  })
  const add = isArchived ? (
    <p className={classes.archived}>This client is archived: make it active again to change its record.</p>
  ) : (
    <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => setAdding(true)}>
      {`Add ${one}`}
    </Button>
  )
  if (items.length === 0 && !adding) {
    return (
      <Empty title={`No ${many} yet`}>
        <p>{emptyText}</p>
        {add}
      </Empty>
    )
  }
  return (
    <div className={classes.items}>
      {adding ? (
        <div className={classes.composer}>
          <EditForm
            label={`New ${one}`}
            saveLabel={`Add ${one}`}
            fields={fields}
            initial={blank}
            save={(body) => change(`/clients/${id}/${path}`, { method: 'POST', body })}
            onSaved={() => {
              setAdding(false)
              void revalidate()
            }}
            onCancel={() => setAdding(false)}
          />
        </div>
      ) : (
        <div>{add}</div>
      )}
      <ol className={classes.list}>
        {items.map((item) => (
          <li key={item.id}>
            <Entry noun={noun} item={item} />
          </li>
        ))}
      </ol>
    </div>
  )
}
