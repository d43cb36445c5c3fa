import { Button, Group } from '@mantine/core'
import { useEffect, useRef, type KeyboardEvent, type SubmitEvent } from 'react'
import { isCancel } from './cancel-key.ts'
import { ConflictDialog } from './conflict.tsx'
import { confirmDiscard } from './confirm.tsx'
import { useDraft, type Draft, type DraftNeeds } from './draft.ts'
import classes from './edit-form.module.css'
import { FieldInput } from './field-input.tsx'
import { SaveRefusal } from './save-refusal.tsx'

export interface EditFormProps extends DraftNeeds {
  /** The title: `Edit note`. */
  readonly label: string
  readonly saveLabel?: string
  /** The name of the field where the cursor starts. Default: the first. */
  readonly startsAt?: string | undefined
  readonly onCancel: () => void
}

/** Edits a record in place. Ctrl+Enter saves. Escape cancels, and asks first if the text is unsaved. */
export function EditForm({ label, saveLabel = 'Save', startsAt, onCancel, ...needs }: EditFormProps) {
  const draft = useDraft(needs)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const start = startsAt === undefined ? 'input, textarea' : `[data-field=${startsAt}]`
    form.current?.querySelector<HTMLElement>(start)?.focus()
  }, [startsAt])
  useEffect(() => {
    const wrong = draft.error && form.current?.querySelector<HTMLElement>('[aria-invalid=true]')
    if (wrong) wrong.focus()
    // The disabled button lost the focus during saving; that for restoring is gone.
    else if (document.activeElement === document.body) {
      form.current?.querySelector<HTMLElement>('[type=submit]')?.focus()
    }
  }, [draft.error])

  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    void draft.submit()
  }
  async function cancel() {
    if (draft.isDirty && !(await confirmDiscard())) return
    draft.settle()
    onCancel()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      // After the field has committed its input, so that an unfinished name counts too.
      setTimeout(() => form.current?.requestSubmit())
    }
    if (isCancel(event) && !draft.isDirty) onCancel()
  }

  return (
    <form ref={form} className={classes.form} aria-label={label} onSubmit={onSubmit} onKeyDown={onKeyDown}>
      <div className={classes.fields}>
        {draft.fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={draft.values[field.name] ?? ''}
            error={draft.error?.refusal.field === field.name ? draft.error.reasonAtField : undefined}
            readOnly={draft.busy}
            onChange={(value) => draft.set(field.name, value)}
          />
        ))}
      </div>
      <SaveRefusal draft={draft} shownAt={draft.fields.map(({ name }) => name)} />
      <Group gap="xs">
        <Button type="submit" loading={draft.busy}>
          {saveLabel}
        </Button>
        <Button variant="subtle" color="gray" disabled={draft.busy} onClick={() => void cancel()}>
          {draft.isDirty ? 'Discard' : 'Cancel'}
        </Button>
        <span className={classes.hint}>{draft.isDirty ? unsavedText(draft) : ''}</span>
      </Group>
      <ConflictDialog draft={draft} />
    </form>
  )
}

/** Says that the text of a form is unsaved, and whether it is from before. */
export function unsavedText({ isRestored }: Pick<Draft, 'isRestored'>): string {
  return isRestored ? 'Restored from before, not saved yet' : 'Not saved yet'
}
