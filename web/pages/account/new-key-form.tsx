import { Alert, Button, Group, TextInput } from '@mantine/core'
import { useState, type KeyboardEvent, type SubmitEvent } from 'react'
import type { AccountShown, KeyIssued, KeyList } from '../../../src/accounts/schema.ts'
import { change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { requestOf } from '../../components/draft.ts'
import { FieldInput } from '../../components/field-input.tsx'
import { sentBody, valuesOf } from '../../fields.ts'
import classes from './account.module.css'
import { keyLimitFields } from './key-limits.ts'
import { useIssue } from './use-issue.ts'

interface NewKeyFormProps {
  readonly account: AccountShown
  readonly models: KeyList['models']
  readonly onIssued: (key: KeyIssued) => void
  readonly onClose: () => void
  /** Called if a key may exist that was not shown. */
  readonly onLost: () => void
}

/** Creates a key for some models, or for all. Escape cancels while nothing is typed or chosen. */
export function NewKeyForm({ account, models, onIssued, onClose, onLost }: NewKeyFormProps) {
  const [name, setName] = useState('')
  const [expiry, setExpiry] = useState('')
  const limitFields = keyLimitFields(account.currency)
  const none = valuesOf(limitFields, {})
  const [limits, setLimits] = useState(none)
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const [idempotencyKey] = useState(newKey)
  const { busy, error, issue } = useIssue({ onIssued, onLost })
  const errorAt = (field: string) => (error?.refusal.field === field ? error.reasonAtField : undefined)
  const shown = [...shownFields, ...limitFields.map((field) => field.name)]
  const isElsewhere = error !== undefined && !shown.includes(error.refusal.field ?? '')
  const isEmpty =
    name === '' && expiry === '' && chosen === null && Object.values(limits).every((limit) => limit === '')

  function onKeyDown({ key }: KeyboardEvent) {
    if (key === 'Escape' && isEmpty && !busy) onClose()
  }
  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    void issue(async () => {
      const given = sentBody(limitFields, requestOf(limitFields, limits, none))
      const body = { name, allowed_models: chosen, expires_at: expiry === '' ? null : expiry, ...given }
      return change<KeyIssued>(`/accounts/${account.id}/keys`, { method: 'POST', body, key: idempotencyKey })
    })
  }

  return (
    <form className={classes.form} aria-label="New key" onSubmit={onSubmit} onKeyDown={onKeyDown}>
      <TextInput
        label="Name"
        placeholder="What uses it: backend"
        data-autofocus
        required
        withAsterisk={false}
        maxLength={200}
        value={name}
        readOnly={busy}
        error={errorAt('name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <ModelChoice models={models} chosen={chosen} error={errorAt('allowed_models')} onChange={setChosen} />
      <TextInput
        label="Expires (optional)"
        type="date"
        max="9999-12-31"
        value={expiry}
        readOnly={busy}
        error={errorAt('expires_at')}
        onChange={({ currentTarget }) => setExpiry(currentTarget.value)}
      />
      <fieldset className={classes.fieldset}>
        <legend>Per-key limits (optional)</legend>
        <div className={classes.limits}>
          {limitFields.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              value={limits[field.name] ?? ''}
              error={errorAt(field.name)}
              readOnly={busy}
              onChange={(value) => setLimits({ ...limits, [field.name]: value })}
            />
          ))}
        </div>
      </fieldset>
      {isElsewhere && (
        <Alert color="red" variant="light" role="alert" title={error.status === 0 ? 'No response' : 'No key to show'}>
          {error.message}
        </Alert>
      )}
      <Group gap="xs">
        <Button type="submit" loading={busy} disabled={chosen?.length === 0}>
          Create key
        </Button>
        <Button variant="subtle" color="gray" disabled={busy} onClick={onClose}>
          Cancel
        </Button>
      </Group>
    </form>
  )
}

const shownFields = ['name', 'allowed_models', 'expires_at']

interface ModelChoiceProps {
  readonly models: KeyList['models']
  /** Null: every model. */
  readonly chosen: readonly string[] | null
  readonly error: string | undefined
  readonly onChange: (chosen: readonly string[] | null) => void
}

function ModelChoice({ models, chosen, error, onChange }: ModelChoiceProps) {
  return (
    <fieldset className={classes.fieldset}>
      <legend>Models</legend>
      <label className={classes.check}>
        <input type="radio" name="models" checked={chosen === null} onChange={() => onChange(null)} />
        Every model
      </label>
      <label className={classes.check}>
        <input type="radio" name="models" checked={chosen !== null} onChange={() => onChange([])} />
        Only these
      </label>
      {chosen !== null && (
        <div className={classes.choices}>
          {models.map(({ name, alias_of: of }) => (
            <label key={name} className={classes.check}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget }) =>
                  onChange(currentTarget.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
                }
              />
              <span>
                {name}
                {of !== null && <span className={classes.none}> now {of}</span>}
              </span>
            </label>
          ))}
        </div>
      )}
      {error !== undefined && (
        <p className={classes.error} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  )
}
