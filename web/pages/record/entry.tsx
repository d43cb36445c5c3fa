import { ActionIcon, Badge, Menu } from '@mantine/core'
import {
  IconArchive,
  IconCheckbox,
  IconClockPlay,
  IconDownload,
  IconDots,
  IconHistory,
  IconPencil,
  IconReceipt,
  IconReceiptRefund,
  IconSparkles,
} from '@tabler/icons-react'
import { useRef, useState, type Ref } from 'react'
import { Link, useNavigate, useRevalidator } from 'react-router'
import { ApiError, change } from '../../api.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { LongText } from '../../components/long-text.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { useOpened } from '../../components/opened.ts'
import { startTimer } from '../../components/timer/timer.ts'
import { notifyUndoable } from '../../components/undo.tsx'
import { content } from '../../content.ts'
import { nouns, sentBody, valuesOf } from '../../fields.ts'
import classes from './entry.module.css'
import { startingAt } from '../letter/starts-at.ts'
import { isConcern, TaskAbout } from '../tasks/about.tsx'
import { Done } from '../tasks/done.tsx'
import type { Item, ItemNoun } from './items.tsx'
import { saveFile } from './download-button.tsx'
import { Origin } from './origin.tsx'
import { RestoreButton } from './restore.tsx'
import { tellSaved } from './saved.ts'
import { summaryOf } from './summary.tsx'
import { useFields } from './use-fields.ts'
import { useItemAgain } from './use-item-again.ts'
import { useRecord } from './use-record.ts'
import { workOn } from './work.ts'

export interface EntryProps {
  readonly noun: ItemNoun
  readonly item: Item
  /** Shown on its own page, with its whole text. */
  readonly alone?: boolean
  /** Called when its form opens and closes. */
  readonly onEditing?: (item: Item, isEditing: boolean) => void
}

const hasAmount: readonly ItemNoun[] = ['dispute', 'document', 'time_entry', 'expense']

/** One item, with its form in the same place. */
export function Entry({ noun, item, alone = false, onEditing }: EntryProps) {
  const { id } = useRecord()
  const { revalidate } = useRevalidator()
  const { one, path } = nouns[noun]
  const fields = useFields(noun)
  const address = `/clients/${id}/${path}/${item.id}`
  const { isOpen, opener, open, close } = useOpened({
    keptAs: address,
    onTurn: (opened) => onEditing?.(item, opened),
  })
  const again = useItemAgain(address)
  const changed = useRef<Item>(undefined)
  const { title, badge, aside, text } = summaryOf(item)
  const target = alone ? invoiceOf(item) : address
  if (isOpen) {
    return (
      <article className={classes.entry}>
        <EditForm
          label={`Edit ${one}`}
          fields={fields}
          initial={valuesOf(fields, item)}
          version={item.version}
          keptAs={address}
          save={async (body, version) => {
            changed.current = await change<Item>(address, {
              method: 'PATCH',
              body: sentBody(fields, body),
              ...(version !== undefined && { version }),
            })
            return changed.current
          }}
          {...again}
          onSaved={async () => {
            await revalidate()
            if (changed.current) tellSaved({ clientId: id, noun, item: changed.current, before: item })
            close()
          }}
          onCancel={close}
        />
      </article>
    )
  }
  return (
    <article className={classes.entry}>
      <header className={classes.head}>
        {'priority' in item && <Done task={item} address={address} />}
        <h3 className={classes.title}>{target === undefined ? title : <Link to={target}>{title}</Link>}</h3>
        <span
          className={classes.aside}
          data-amount={hasAmount.includes(noun) || undefined}
          data-cut={(noun === 'note' && !alone) || undefined}
        >
          {aside}
        </span>
        {badge && <Badge color={badge.color}>{badge.text}</Badge>}
        {item.archived_at === null ? (
          <EntryActions {...{ noun, item, alone, address, opener, onEdit: open }} />
        ) : (
          <>
            <Badge color="gray">Archived</Badge>
            <RestoreButton noun={noun} item={item} />
          </>
        )}
      </header>
      {text !== '' && <LongText text={text} whole={alone} paper={noun === 'letter'} />}
      <Origin item={item} />
    </article>
  )
}

/** Whether a letter can be drafted from it. */
function isSource(noun: ItemNoun, item: Item): boolean {
  return noun === 'note' || noun === 'dispute' || ('reading' in item && item.reading === 'read')
}

/** The page of the invoice that a dispute names, for partners. */
function invoiceOf(item: Item): string | undefined {
  return 'invoice_id' in item && item.invoice_id !== null ? `/invoices/${item.invoice_id}` : undefined
}

interface EntryActionsProps {
  readonly noun: ItemNoun
  readonly item: Item
  readonly alone: boolean
  readonly address: string
  readonly opener: Ref<HTMLButtonElement>
  readonly onEdit: () => void
}

function EntryActions({ noun, item, alone, address, opener, onEdit }: EntryActionsProps) {
  const record = useRecord()
  const { id, status } = record
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const { one, path } = nouns[noun]
  const invoice = invoiceOf(item)
  const [isAddingTask, setAddingTask] = useState(false)

  async function archive() {
    try {
      await change(address, { method: 'DELETE', version: item.version })
      notifyUndoable(`The ${one} was archived.`, async () => {
        await change(`${address}/restore`, { method: 'POST' })
        await revalidate()
      })
      // On the list, other forms may have unsaved text.
      if (alone) await navigate(`/clients/${id}/${path}`)
      await revalidate()
    } catch (error) {
      notifyFailure(`The ${one} was not archived`, error)
      // Someone else was faster: show their version.
      if (error instanceof ApiError && error.status > 0) await revalidate()
    }
  }

  return (
    <div className={classes.actions}>
      {status === 'active' && (
        <ActionIcon
          ref={opener}
          // A letter has a page of its own to write it.
          onClick={noun === 'letter' ? () => void navigate(address, { state: startingAt('subject') }) : onEdit}
          aria-label={`Edit ${one}`}
        >
          <IconPencil size={16} />
        </ActionIcon>
      )}
      <Menu position="bottom-end" width={184} shadow="md">
        <Menu.Target>
          <ActionIcon aria-label={`More actions for this ${one}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isSource(noun, item) && status === 'active' && content.settings?.drafting && (
            <Menu.Item
              leftSection={<IconSparkles size={16} />}
              onClick={() => void navigate(`/clients/${id}/letters#draft:${noun}:${item.id}`)}
            >
              Draft a letter
            </Menu.Item>
          )}
          {isConcern(noun) && status === 'active' && (
            <Menu.Item leftSection={<IconCheckbox size={16} />} onClick={() => setAddingTask(true)}>
              Add a task
            </Menu.Item>
          )}
          {(noun === 'note' || noun === 'letter') && status === 'active' && (
            <Menu.Item
              leftSection={<IconClockPlay size={16} />}
              onClick={() => void startTimer({ client: record, text: workOn(item) })}
            >
              Start a timer
            </Menu.Item>
          )}
          {invoice !== undefined && (
            <>
              <Menu.Item component={Link} to={invoice} leftSection={<IconReceipt size={16} />}>
                Open the invoice
              </Menu.Item>
              <Menu.Item component={Link} to={`${invoice}#credit`} leftSection={<IconReceiptRefund size={16} />}>
                Write a credit note
              </Menu.Item>
            </>
          )}
          {noun === 'document' && (
            <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => void saveFile(`${address}/content`)}>
              Download
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconHistory size={16} />} onClick={() => void navigate(address)}>
            Earlier versions
          </Menu.Item>
          {status === 'active' && (
            <Menu.Item leftSection={<IconArchive size={16} />} onClick={() => void archive()}>
              {`Archive ${one}`}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {isAddingTask && isConcern(noun) && <TaskAbout noun={noun} id={item.id} onClose={() => setAddingTask(false)} />}
    </div>
  )
}
