import { Button, Group, TextInput } from '@mantine/core'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type SubmitEvent } from 'react'
import { useNavigate, useRevalidator } from 'react-router'
import type { Letter } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { isCancel } from '../../components/cancel-key.ts'
import { ConflictDialog } from '../../components/conflict.tsx'
import { confirmDiscard } from '../../components/confirm.tsx'
import { useDraft, type Draft } from '../../components/draft.ts'
import { unsavedText } from '../../components/edit-form.tsx'
import { TextEditor } from '../../components/editor/text-editor.tsx'
import { notifyDone } from '../../components/notify.ts'
import { SaveRefusal } from '../../components/save-refusal.tsx'
import { isLeaving } from '../../unsaved.ts'
import { letterFields, valuesOf, type Value } from '../../fields.ts'
import { tellSaved } from '../record/saved.ts'
import { useItemAgain } from '../record/use-item-again.ts'
import { useRecord } from '../record/use-record.ts'
import classes from './letter.module.css'
import { startingAt, type StartsAt } from './starts-at.ts'
import { createSuccessor } from './successor.ts'

const fields = letterFields()

interface LetterFormProps {
  readonly letter: Letter
  /** Takes the focus when it opens. */
  readonly startsAt: StartsAt | undefined
  readonly onDirty: (isDirty: boolean) => void
  /** Called with a function that inserts Markdown at the cursor. */
  readonly onReady: (insert: (markdown: string) => void) => void
}

/** The form of a letter, which stays open after saving. If the letter was sent meanwhile, the text is for a new version. */
export function LetterForm({ letter, startsAt, onDirty, onReady }: LetterFormProps) {
  const { id } = useRecord()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const letters = `/clients/${id}/letters`
  const address = `${letters}/${letter.id}`
  const isSent = letter.status === 'sent'
  const isOpen = letter.status === 'draft' && letter.archived_at === null
  const [succeed] = useState(() => createSuccessor(letters, letter.id))
  const successor = useRef<Letter>(undefined)
  const saved = useRef<Letter>(undefined)
  const draft = useDraft({
    fields,
    initial: valuesOf(fields, letter),
    version: letter.version,
    save: async (body, version) => {
      const outlivesPage = document.visibilityState === 'hidden'
      if (!isSent) {
        saved.current = await change<Letter>(address, { method: 'PATCH', body, version, outlivesPage })
        return saved.current
      }
      successor.current = await succeed(body)
      return successor.current
    },
    ...useItemAgain(address),
    keptAs: address,
    // Without a notice: it is typed on.
    onSelfSaved: isOpen ? revalidate : undefined,
    onSaved: async () => {
      // Until then the editor takes no text.
      await revalidate()
      notifyDone(successor.current ? 'A new version was created with your text.' : 'The letter was saved.')
      if (saved.current) tellSaved({ clientId: id, noun: 'letter', item: saved.current, before: letter })
      if (!successor.current || isLeaving()) return
      await navigate(`${letters}/${successor.current.id}`, { state: startingAt('body') })
    },
  })
  const { isDirty, busy, isSelfSaving, version, adopt } = draft
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])
  // Before another key can be pressed, as in the editor.
  useLayoutEffect(() => {
    // Redrafted, or saved on another page.
    if (!isDirty && !busy && version !== undefined && letter.version > version) {
      adopt(valuesOf(fields, letter), letter.version)
    }
  }, [letter, isDirty, busy, version, adopt])
  async function discard() {
    if (await confirmDiscard('The letter goes back to its last saved version.'))
      adopt(valuesOf(fields, letter), letter.version)
  }
  return (
    <LetterFields label="Edit letter" draft={draft} startsAt={startsAt} onReady={onReady}>
      <Button type="submit" loading={busy} disabled={!isDirty}>
        {isSent ? 'New version with your text' : 'Save'}
      </Button>
      {isDirty && (
        <Button variant="subtle" color="gray" disabled={busy || isSelfSaving} onClick={() => void discard()}>
          Discard
        </Button>
      )}
      <span className={classes.hint}>{isDirty ? unsavedHint(draft) : 'Saved'}</span>
    </LetterFields>
  )
}

function unsavedHint(draft: Draft): string {
  const { held, isSelfSaving } = draft
  if (held?.isOwn) return 'You saved this letter on another page. Save yours to choose.'
  if (held) return `${held.by ?? 'Someone else'} saved this letter while you were writing. Save yours to choose.`
  return isSelfSaving ? 'Saving…' : unsavedText(draft)
}

interface LetterFieldsProps {
  readonly label: string
  readonly draft: Draft
  readonly startsAt: LetterFormProps['startsAt']
  readonly onReady: LetterFormProps['onReady']
  /** Called for Escape if nothing was typed. */
  readonly onCancel?: () => void
  /** The buttons. */
  readonly children: React.ReactNode
}

const places = { subject: 'input', body: '[aria-label=Letter]' } as const

/** The subject and text of a letter. Ctrl+Enter saves. */
export function LetterFields({ label, draft, startsAt, onReady, onCancel, children }: LetterFieldsProps) {
  const form = useRef<HTMLFormElement>(null)
  const { values, error, isSelfSave, conflict, busy, isDirty, set, defer, submit } = draft
  const typed = (name: string): string => textOf(values[name])
  const errorOf = (name: string) => (error?.refusal.field === name ? error.reasonAtField : undefined)
  useEffect(() => {
    if (startsAt) form.current?.querySelector<HTMLElement>(places[startsAt])?.focus()
  }, [startsAt])
  useEffect(() => {
    if (error && !isSelfSave) form.current?.querySelector<HTMLElement>('[aria-invalid=true], [type=submit]')?.focus()
  }, [error, isSelfSave])
  const wasRefused = useRef(false)
  useEffect(() => {
    if (conflict || error) wasRefused.current = true
    else if (!busy && wasRefused.current) {
      wasRefused.current = false
      // What had the focus, the dialog or the button for restoring, is gone.
      if (document.activeElement === document.body) form.current?.querySelector<HTMLElement>(places.body)?.focus()
    }
  }, [conflict, error, busy])
  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    void submit()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
    if (isCancel(event) && !isDirty) onCancel?.()
  }
  return (
    <form ref={form} data-printed className={classes.form} aria-label={label} onSubmit={onSubmit} onKeyDown={onKeyDown}>
      <TextInput
        label="Subject"
        value={typed('subject')}
        required
        withAsterisk={false}
        maxLength={300}
        readOnly={busy}
        error={errorOf('subject')}
        onChange={({ currentTarget }) => set('subject', currentTarget.value)}
      />
      <TextEditor
        label="Letter"
        text={typed('body')}
        readOnly={busy}
        onChange={(text) => set('body', text)}
        onTyping={(read) => defer('body', read)}
        onReady={onReady}
      />
      <div className={classes.actions}>
        <SaveRefusal draft={draft} shownAt={['subject']} />
        <Group gap="xs">{children}</Group>
      </div>
      <ConflictDialog draft={draft} />
    </form>
  )
}

const textOf = (value: Value | undefined) => (typeof value === 'string' ? value : '')
