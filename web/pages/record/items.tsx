import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useRevalidator } from 'react-router'
import type {
  Contact,
  Dispute,
  Document,
  Expense,
  Letter,
  Note,
  RevisedNoun,
  Task,
  TimeEntry,
} from '../../../src/clients/schema.ts'
import { createMaker } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { useEdited } from '../../components/edited.ts'
import { Empty } from '../../components/empty.tsx'
import { useKey } from '../../components/keys.ts'
import { useOpened } from '../../components/opened.ts'
import { nouns, sentBody, type Values } from '../../fields.ts'
import { Archived } from './archived.tsx'
import { ArchivedNotice } from './archived-notice.tsx'
import { Entry } from './entry.tsx'
import classes from './items.module.css'
import { tellSaved } from './saved.ts'
import { useFields } from './use-fields.ts'
import { useRecord } from './use-record.ts'

export type Item = Note | Dispute | Letter | Document | Task | Contact | TimeEntry | Expense
export type ItemNoun = Exclude<RevisedNoun, 'client'>

export interface ItemsProps {
  readonly noun: ItemNoun
  readonly items: readonly Item[]
  /** The initial values of a new item. */
  readonly blank: Values
  /** The placeholders of a new item, by the names of its fields. Default: those of its kind. */
  readonly placeholders?: Readonly<Record<string, string>>
  /** The name of the field where a new item starts. Default: the first. */
  readonly startsAt?: string
  /** The hint for an empty list. */
  readonly emptyText: string
}

/** The items of one kind of a record, and the form for a new one. */
export function Items({ noun, items, blank, placeholders, startsAt, emptyText }: ItemsProps) {
  const { id, status } = useRecord()
  const isArchived = status === 'archived'
  const { one, many, path } = nouns[noun]
  const { isOpen, opener, open, close } = useOpened({ keptAs: `/clients/${id}/${path}` })
  const { edited, removed, onEditing } = useEdited(items)
  useKey('n', (event) => {
    if (isArchived) return
    event.preventDefault()
    open()
  })
  const add = isArchived ? (
    <ArchivedNotice />
  ) : (
    <Button ref={opener} variant="default" leftSection={<IconPlus size={15} />} onClick={open}>
      {`Add ${one}`}
    </Button>
  )
  if (items.length === 0 && edited.size === 0 && !isOpen) {
    return (
      <div className={classes.items}>
        <Empty title={`No ${many} yet`}>
          <p>{emptyText}</p>
          {add}
        </Empty>
        <Archived key="archived" noun={noun} />
      </div>
    )
  }
  return (
    <div className={classes.items}>
      {isOpen ? (
        <div className={classes.composer}>
          <NewItem {...{ noun, blank, placeholders, startsAt, close }} />
        </div>
      ) : (
        <div>{add}</div>
      )}
      <ol className={classes.list}>
        {[...removed, ...items].map((item) => (
          <li key={item.id}>
            <Entry noun={noun} item={item} onEditing={onEditing} />
          </li>
        ))}
      </ol>
      <Archived key="archived" noun={noun} />
    </div>
  )
}

interface NewItemProps extends Pick<ItemsProps, 'noun' | 'blank'> {
  readonly placeholders: ItemsProps['placeholders'] | undefined
  readonly startsAt: string | undefined
  readonly close: () => void
}

function NewItem({ noun, blank, placeholders = {}, startsAt, close }: NewItemProps) {
  const { id } = useRecord()
  const { one, path } = nouns[noun]
  const fields = useFields(noun).map((field) => {
    const placeholder = placeholders[field.name]
    return placeholder === undefined ? field : { ...field, placeholder }
  })
  const { revalidate } = useRevalidator()
  const [make] = useState(() => createMaker<Item>(`/clients/${id}/${path}`))
  const made = useRef<Item>(undefined)
  return (
    <EditForm
      label={`New ${one}`}
      saveLabel={`Add ${one}`}
      fields={fields}
      initial={blank}
      startsAt={startsAt}
      keptAs={`/clients/${id}/${path}`}
      save={async (body) => {
        made.current = await make(sentBody(fields, body))
      }}
      onSaved={async () => {
        await revalidate()
        if (made.current) tellSaved({ clientId: id, noun, item: made.current })
        close()
      }}
      onCancel={close}
    />
  )
}
