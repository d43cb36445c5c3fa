import { ActionIcon, Badge, Button, Menu } from '@mantine/core'
import {
  IconArchive,
  IconCheck,
  IconCheckbox,
  IconClockPlay,
  IconCopy,
  IconDots,
  IconFileTypeDocx,
  IconFileTypePdf,
  IconPrinter,
  IconSparkles,
} from '@tabler/icons-react'
import { useState, type Ref } from 'react'
import { useNavigate, useRevalidator } from 'react-router'
import type { Letter } from '../../../src/clients/schema.ts'
import type { ProposedLetterMail } from '../../../src/clients/letters/mail/schema.ts'
import { ApiError, change, read } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { saveLinked } from '../../components/save-linked.ts'
import { Ago } from '../../components/time.tsx'
import { startTimer } from '../../components/timer/timer.ts'
import { notifyUndoable } from '../../components/undo.tsx'
import { moneyText } from '../../money.ts'
import { modelText } from '../../words.ts'
import { RestoreButton } from '../record/restore.tsx'
import { tellSaved } from '../record/saved.ts'
import { useRecord } from '../record/use-record.ts'
import { workOn } from '../record/work.ts'
import { summaryOf } from '../record/summary.tsx'
import { TaskAbout } from '../tasks/about.tsx'
import { confirmUnproven } from './check.tsx'
import classes from './letter.module.css'
import { SendDialog } from './send-dialog.tsx'
import type { Draft } from './wire.ts'

interface LetterActionsProps {
  readonly letter: Letter
  /** Its latest draft, if a model wrote it. */
  readonly draft: Draft | undefined
  readonly mayApprove: boolean
  readonly isDirty: boolean
  /** Opens the form to redraft it; absent if that is not possible. */
  readonly onDraft: (() => void) | undefined
  /** The button that opens it. */
  readonly drafter: Ref<HTMLButtonElement>
}

/** The state of a letter, and what can be done with it. */
export function LetterActions({ letter, draft, mayApprove, isDirty, onDraft, drafter }: LetterActionsProps) {
  const { badge } = summaryOf(letter)
  const { status: clientStatus } = useRecord()
  const isActive = clientStatus === 'active'
  if (letter.archived_at !== null) {
    return (
      <div className={classes.bar}>
        <div className={classes.about}>
          {badge && <Badge color={badge.color}>{badge.text}</Badge>}
          <Badge color="gray">Archived</Badge>
        </div>
        {/* Beside unsaved text, the form restores it. */}
        {!isDirty && <RestoreButton noun="letter" item={letter} />}
      </div>
    )
  }
  return (
    <div className={classes.bar}>
      <div className={classes.about}>
        {badge && <Badge color={badge.color}>{badge.text}</Badge>}
        <Told letter={letter} />
        {letter.generated && <span>{draftedBy(letter, draft)}</span>}
      </div>
      {isActive && <Steps letter={letter} draft={draft} mayApprove={mayApprove} isDirty={isDirty} />}
      {onDraft && (
        <Button
          ref={drafter}
          variant="default"
          leftSection={<IconSparkles size={15} aria-hidden />}
          disabled={isDirty}
          title={isDirty ? saveFirst : undefined}
          onClick={onDraft}
        >
          {letter.generated ? 'Draft again' : 'Draft with a model'}
        </Button>
      )}
      <LetterMenu letter={letter} isActive={isActive} isDirty={isDirty} />
    </div>
  )
}

const saveFirst = 'Save or discard your changes first'

function draftedBy({ cost, currency }: Letter, draft: Draft | undefined): string {
  const model = `Drafted by ${draft ? modelText(draft.model) : 'a model'}`
  return cost === null ? model : `${model}, ${moneyText(cost, currency)}`
}

/** Who approved it, or when it was sent. */
function Told({ letter }: { readonly letter: Letter }) {
  if (letter.status === 'sent' && letter.sent_at !== null) {
    return (
      <span>
        <Ago time={letter.sent_at} />
      </span>
    )
  }
  if (letter.status === 'approved' && letter.approved_at !== null) {
    return (
      <span>
        {letter.approved_by && (
          <>
            by <bdi>{letter.approved_by.name}</bdi>,{' '}
          </>
        )}
        <Ago time={letter.approved_at} />
      </span>
    )
  }
  return null
}

/** The steps from draft to sent, and a new version of a sent letter. */
function Steps({
  letter,
  draft,
  mayApprove,
  isDirty,
}: Pick<LetterActionsProps, 'letter' | 'draft' | 'mayApprove' | 'isDirty'>) {
  const { id, address: postal } = useRecord()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  const [mail, setMail] = useState<ProposedLetterMail>()
  const address = `/clients/${id}/letters/${letter.id}`

  async function run(work: () => Promise<unknown>) {
    setBusy(true)
    try {
      await work()
    } catch (error) {
      notifyFailure('The letter was not changed', error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    } finally {
      setBusy(false)
    }
  }
  const setStatus = (status: Letter['status'], done: string) =>
    run(async () => {
      const item = await change<Letter>(address, { method: 'PATCH', body: { status }, version: letter.version })
      notifyDone(done)
      await revalidate()
      if (status !== 'draft') tellSaved({ clientId: id, noun: 'letter', item, before: letter })
    })
  async function approve() {
    setBusy(true)
    const sure = draft === undefined || (await confirmUnproven(id, draft))
    setBusy(false)
    if (sure) await setStatus('approved', 'The letter was approved.')
  }
  async function send() {
    const sure = await confirm({
      title: 'Mark this letter as sent?',
      text: 'A sent letter cannot be changed. To correct it, create a new version.',
      notes: [
        ...(postal === null ? ['The client has no postal address, so the letter shows only the name.'] : []),
        ...(letter.body.trim() === '' ? ['The letter has no text.'] : []),
      ],
      action: 'Mark as sent',
    })
    if (sure) await setStatus('sent', 'The letter was marked as sent.')
  }
  async function openMail() {
    setBusy(true)
    try {
      setMail(await read<ProposedLetterMail>(`${address}/mail`))
    } catch (error) {
      notifyFailure('No mail can be sent now', error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    } finally {
      setBusy(false)
    }
  }
  const mailing = mail && (
    <SendDialog address={address} mail={mail} onClose={() => setMail(undefined)} onDone={revalidate} />
  )
  const newVersion = () =>
    run(async () => {
      const made = await change<Letter>(`${address}/versions`, { method: 'POST' })
      notifyDone('A new version was created.')
      await revalidate()
      await navigate(`/clients/${id}/letters/${made.id}`)
    })

  switch (letter.status) {
    case 'draft':
      // The page says who may.
      if (!mayApprove) return null
      return (
        <Button
          variant="default"
          leftSection={<IconCheck size={15} aria-hidden />}
          loading={busy}
          disabled={isDirty}
          title={isDirty ? saveFirst : undefined}
          onClick={() => void approve()}
        >
          Approve
        </Button>
      )
    case 'approved':
      return (
        <>
          <Button
            loading={busy}
            disabled={isDirty}
            title={isDirty ? saveFirst : undefined}
            onClick={() => void openMail()}
          >
            Send by mail
          </Button>
          <Button
            variant="default"
            loading={busy}
            disabled={isDirty}
            title={isDirty ? saveFirst : undefined}
            onClick={() => void send()}
          >
            Mark as sent
          </Button>
          <Button
            variant="default"
            loading={busy}
            disabled={isDirty}
            title={isDirty ? saveFirst : undefined}
            onClick={() => void setStatus('draft', 'The letter is a draft again.')}
          >
            Back to draft
          </Button>
          {mailing}
        </>
      )
    case 'sent':
      // Beside unsaved text, the form begins it.
      if (isDirty) return null
      return (
        <>
          <Button variant="default" loading={busy} onClick={() => void openMail()}>
            Send by mail
          </Button>
          <Button variant="default" loading={busy} onClick={() => void newVersion()}>
            New version
          </Button>
          {mailing}
        </>
      )
  }
}

function LetterMenu({
  letter,
  isActive,
  isDirty,
}: Pick<LetterActionsProps, 'letter' | 'isDirty'> & { readonly isActive: boolean }) {
  const record = useRecord()
  const { id } = record
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const [isAddingTask, setAddingTask] = useState(false)
  const address = `/clients/${id}/letters/${letter.id}`

  async function copy() {
    await navigator.clipboard.writeText(letter.body)
    notifyDone('The text was copied.')
  }
  async function archive() {
    try {
      await change(address, { method: 'DELETE', version: letter.version })
      notifyUndoable('The letter was archived.', async () => {
        await change(`${address}/restore`, { method: 'POST' })
        await revalidate()
      })
      await navigate(`/clients/${id}/letters`)
      await revalidate()
    } catch (error) {
      notifyFailure('The letter was not archived', error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    }
  }

  // A file would have the text as it was last saved.
  if (isDirty) {
    return (
      <ActionIcon variant="default" size={32} aria-label="More actions for this letter" title={saveFirst} disabled>
        <IconDots size={16} />
      </ActionIcon>
    )
  }
  return (
    <>
      <Menu position="bottom-end" width={200} shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={32} aria-label="More actions for this letter">
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href={`${address}/pdf`}
            download
            leftSection={<IconFileTypePdf size={16} />}
            onClick={(event) => void saveLinked(event)}
          >
            Download PDF
          </Menu.Item>
          <Menu.Item
            component="a"
            href={`${address}/docx`}
            download
            leftSection={<IconFileTypeDocx size={16} />}
            onClick={(event) => void saveLinked(event)}
          >
            Download for Word
          </Menu.Item>
          <Menu.Item component="a" href={`${address}/print`} target="_blank" leftSection={<IconPrinter size={16} />}>
            Print
          </Menu.Item>
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => void copy()}>
            Copy text
          </Menu.Item>
          {isActive && (
            <>
              <Menu.Divider />
              <Menu.Item
                leftSection={<IconClockPlay size={16} />}
                onClick={() => void startTimer({ client: record, text: workOn(letter) })}
              >
                Start a timer
              </Menu.Item>
              <Menu.Item leftSection={<IconCheckbox size={16} />} onClick={() => setAddingTask(true)}>
                Add a task
              </Menu.Item>
              <Menu.Item leftSection={<IconArchive size={16} />} onClick={() => void archive()}>
                Archive letter
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {isAddingTask && <TaskAbout noun="letter" id={letter.id} onClose={() => setAddingTask(false)} />}
    </>
  )
}
