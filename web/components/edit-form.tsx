import { Alert, Button, Group } from '@mantine/core'
import { useEffect, useRef, type KeyboardEvent, type SubmitEvent } from 'react'
import { ConflictDialog } from './conflict.tsx'
import { useDraft, type DraftNeeds } from './draft.ts'
import classes from './edit-form.module.css'
import { FieldInput } from './field-input.tsx'

export interface EditFormProps extends DraftNeeds {
  /** What the form is for: `Edit note`. */
  readonly label: string
  readonly saveLabel?: string
  readonly onCancel: () => void
}

/** Writes something in its place. Ctrl+Enter saves, Escape leaves it when nothing was changed. */
export function EditForm({ label, saveLabel = 'Save', onCancel, ...needs }: EditFormProps) {
  const draft = useDraft(needs)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea')?.focus(), [])

  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    draft.submit()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
    if (event.key === 'Escape' && !draft.isDirty && !event.defaultPrevented) onCancel()
  }

  return (
    <form ref={form} className={classes.form} aria-label={label} onSubmit={onSubmit} onKeyDown={onKeyDown}>
      <div className={classes.fields}>
        {draft.fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={draft.values[field.name] ?? ''}
            error={draft.error?.refusal.field === field.name ? draft.error.message : undefined}
            onChange={(value) => draft.set(field.name, value)}
          />
        ))}
      </div>
      {draft.error && !draft.fields.some(({ name }) => name === draft.error?.refusal.field) && (
        <Alert color="red" variant="light" role="alert" title="Not saved">
          {draft.error.message}
        </Alert>
      )}
      <Group gap="xs">
        <Button type="submit" loading={draft.busy}>
          {saveLabel}
        </Button>
        <Button variant="subtle" color="gray" onClick={onCancel}>
          {draft.isDirty ? 'Discard' : 'Cancel'}
        </Button>
        <span className={classes.hint}>{draft.isDirty ? 'Not saved yet' : ''}</span>
      </Group>
      <ConflictDialog draft={draft} />
    </form>
  )
}
