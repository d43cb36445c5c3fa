import { Alert, Button, Group, TextInput } from '@mantine/core'
import { useEffect, useRef, type KeyboardEvent, type SubmitEvent } from 'react'
import { useRevalidator } from 'react-router'
import type { Letter } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { ConflictDialog } from '../../components/conflict.tsx'
import { confirm } from '../../components/confirm.tsx'
import { useDraft, type Draft } from '../../components/draft.ts'
import { TextEditor } from '../../components/editor/text-editor.tsx'
import { notifyDone } from '../../components/notify.ts'
import { letterFields, valuesOf, type Value } from '../../fields.ts'
import { useRecord } from '../record/use-record.ts'
import classes from './letter.module.css'

const fields = letterFields()

interface LetterFormProps {
  readonly letter: Letter
  readonly onDirty: (isDirty: boolean) => void
  /** Called with a function that inserts Markdown at the cursor. */
  readonly onReady: (insert: (markdown: string) => void) => void
}

/** The form of a letter, which stays open after saving. */
export function LetterForm({ letter, onDirty, onReady }: LetterFormProps) {
  const { id } = useRecord()
  const { revalidate } = useRevalidator()
  const draft = useDraft({
    fields,
    initial: valuesOf(fields, letter),
    version: letter.version,
    save: (body, version) =>
      change(`/clients/${id}/letters/${letter.id}`, {
        method: 'PATCH',
        body,
        ...(version !== undefined && { version }),
      }),
    onSaved: async () => {
      // Until then the editor takes no text.
      await revalidate()
      notifyDone('The letter was saved.')
    },
  })
  const { isDirty, busy, version, adopt } = draft
  useEffect(() => onDirty(isDirty), [isDirty, onDirty])
  useEffect(() => {
    // Redrafted, or saved on another page.
    if (!isDirty && !busy && version !== undefined && letter.version > version) {
      adopt(valuesOf(fields, letter), letter.version)
    }
  }, [letter, isDirty, busy, version, adopt])
  async function discard() {
    const sure = await confirm({
      title: 'Discard your changes?',
      text: 'The letter goes back to its last saved version.',
      action: 'Discard',
    })
    if (sure) adopt(valuesOf(fields, letter), letter.version)
  }
  return (
    <LetterFields label="Edit letter" draft={draft} onReady={onReady}>
      <Button type="submit" loading={busy} disabled={!isDirty}>
        Save
      </Button>
      {isDirty && (
        <Button variant="subtle" color="gray" disabled={busy} onClick={() => void discard()}>
          Discard
        </Button>
      )}
      <span className={classes.hint}>{isDirty ? 'Not saved yet' : 'Saved'}</span>
    </LetterFields>
  )
}

interface LetterFieldsProps {
  readonly label: string
  readonly draft: Draft
  readonly onReady: LetterFormProps['onReady']
  /** The buttons. */
  readonly children: React.ReactNode
}

/** The subject and text of a letter. Ctrl+Enter saves. */
export function LetterFields({ label, draft, onReady, children }: LetterFieldsProps) {
  const form = useRef<HTMLFormElement>(null)
  const { values, error, busy, set, hold, submit } = draft
  const typed = (name: string): string => textOf(values[name])
  const errorOf = (name: string) => (error?.refusal.field === name ? error.reasonAtField : undefined)
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true], [type=submit]')?.focus()
  }, [error])
  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    submit()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
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
        onTyping={(read) => hold('body', read)}
        onReady={onReady}
      />
      {error && errorOf('subject') === undefined && (
        <Alert color="red" variant="light" role="alert" title={error.status === 0 ? 'No response' : 'Not saved'}>
          {error.message}
          {error.status === 0 && ' Nothing is saved twice.'}
        </Alert>
      )}
      <Group gap="xs" className={classes.actions}>
        {children}
      </Group>
      <ConflictDialog draft={draft} />
    </form>
  )
}

const textOf = (value: Value | undefined) => (typeof value === 'string' ? value : '')
