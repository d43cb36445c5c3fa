import { Alert, Button, Group, Textarea, TextInput } from '@mantine/core'
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type SubmitEvent } from 'react'
import type { DraftOptions, ShownInvoice } from '../../../src/invoicing/schema.ts'
import { ApiError } from '../../api.ts'
import { confirmDiscard } from '../../components/confirm.tsx'
import { useUnsaved } from '../../components/unsaved.tsx'
import { UnclearValue } from '../../fields.ts'
import { believed } from '../../wire.ts'
import { DraftConflict } from './draft-conflict.tsx'
import classes from './draft-form.module.css'
import { TypedTotals } from './draft-totals.tsx'
import { isSameDraft, lineOfField, nameOfLine, type DraftValues } from './draft-values.ts'
import { LineEditor } from './line-editor.tsx'
import { ProposedLines } from './proposed-lines.tsx'

interface DraftFormProps {
  readonly label: string
  readonly saveLabel: string
  readonly start: DraftOptions
  readonly initial: DraftValues
  /** The version that the form is based on; absent for a new draft. */
  readonly version?: number
  /** The lines that were proposed. */
  readonly proposed: ShownInvoice['lines']
  /** Whether lines can be typed: not into a credit note. */
  readonly hasLines: boolean
  /** Throws ApiError and UnclearValue. */
  readonly save: (values: DraftValues, version: number | undefined) => Promise<ShownInvoice>
  readonly onSaved: (saved: ShownInvoice) => unknown
  readonly onCancel: () => void
}

/** Writes a draft. What was typed is kept until it is saved, even if a colleague saved the draft in the meantime. */
export function DraftForm(props: DraftFormProps) {
  const { label, saveLabel, start, initial, version, proposed, hasLines, save, onSaved, onCancel } = props
  const [values, setValues] = useState(initial)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  /** The draft as a colleague saved it in the meantime. */
  const [theirs, setTheirs] = useState<ShownInvoice>()
  const form = useRef<HTMLFormElement>(null)
  const isDirty = !isSameDraft(values, initial)
  const { settle } = useUnsaved(isDirty, {})
  useEffect(() => {
    if (document.activeElement === document.body) form.current?.querySelector<HTMLElement>('input, textarea')?.focus()
  }, [])
  const set = (changes: Partial<DraftValues>) => setValues((before) => ({ ...before, ...changes }))
  const setLeftOut = useCallback(
    (leftOut: DraftValues['leftOut']) => setValues((before) => ({ ...before, leftOut })),
    [],
  )
  const setLines = useCallback(
    (change: (lines: DraftValues['lines']) => DraftValues['lines']) =>
      setValues((before) => ({ ...before, lines: change(before.lines) })),
    [],
  )

  async function send(basis: number | undefined) {
    if (busy) return
    setBusy(true)
    setError(undefined)
    try {
      const saved = await save(values, basis)
      settle()
      await onSaved(saved)
    } catch (thrown) {
      const refusal = refusalOf(thrown)
      if (refusal.status === 412 && refusal.current !== undefined) setTheirs(believed<ShownInvoice>(refusal.current))
      else setError(refusal)
    } finally {
      setBusy(false)
    }
  }
  async function cancel() {
    if (isDirty && !(await confirmDiscard())) return
    settle()
    onCancel()
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
  }
  function onSubmit(event: SubmitEvent) {
    event.preventDefault()
    void send(version)
  }

  const included = proposed.filter((each) => !values.leftOut.includes(nameOfLine(each) ?? ''))
  const line = error && lineOfField(error.refusal.field, values.lines)
  const refusedLine = error && line && { ...line, reason: error.reasonAtField }
  const isShown = refusedLine !== undefined || headFields.some((name) => name === error?.refusal.field)
  return (
    <form ref={form} className={classes.form} aria-label={label} onSubmit={onSubmit} onKeyDown={onKeyDown}>
      {theirs && (
        <DraftConflict
          theirs={theirs}
          onKeep={() => {
            setTheirs(undefined)
            void send(theirs.version)
          }}
          onDiscard={() => {
            settle()
            onCancel()
          }}
        />
      )}
      {hasLines && (
        <section aria-label="Lines" className={classes.section}>
          <ProposedLines
            lines={proposed}
            currency={start.currency}
            leftOut={values.leftOut}
            disabled={busy}
            onChange={setLeftOut}
          />
          <LineEditor lines={values.lines} start={start} refused={refusedLine} readOnly={busy} onChange={setLines} />
          <TypedTotals proposed={included} lines={values.lines} start={start} />
        </section>
      )}
      <HeadFields
        values={values}
        buyer={start.buyer}
        daysToPay={start.days_to_pay ?? start.due_days}
        isInvoice={hasLines}
        error={error}
        readOnly={busy}
        onChange={set}
      />
      {error && !isShown && (
        <Alert color="red" variant="light" role="alert" title={error.status === 0 ? 'No response' : 'Not saved'}>
          {error.message}
          {error.status === 0 && ' Nothing is saved twice.'}
        </Alert>
      )}
      <Group gap="xs">
        <Button type="submit" loading={busy}>
          {saveLabel}
        </Button>
        <Button variant="subtle" color="gray" disabled={busy} onClick={() => void cancel()}>
          {isDirty ? 'Discard' : 'Cancel'}
        </Button>
        <span className={classes.hint}>
          {hasLines && 'Enter adds a line, Alt with an arrow key moves it, Ctrl with Enter saves.'}
        </span>
      </Group>
    </form>
  )
}

const headFields = [
  'note',
  'supply.from',
  'supply.to',
  'buyer.name',
  'buyer.address',
  'buyer.tax_number',
  'buyer.reference',
  'buyer.order_number',
  'days_to_pay',
]

function refusalOf(thrown: unknown): ApiError {
  if (thrown instanceof UnclearValue) return new ApiError(422, { field: thrown.field, reason: thrown.message })
  if (thrown instanceof ApiError) return thrown
  throw thrown
}

interface HeadFieldsProps {
  readonly values: DraftValues
  /** The buyer, unless another is typed. */
  readonly buyer: DraftOptions['buyer']
  /** Unless others are typed. */
  readonly daysToPay: number
  readonly isInvoice: boolean
  readonly error: ApiError | undefined
  readonly readOnly: boolean
  readonly onChange: (changes: Partial<DraftValues>) => void
}

/** The buyer and the note. An empty field shows what the payer's record has. */
function HeadFields(props: HeadFieldsProps) {
  const { values, buyer, daysToPay, isInvoice, error, readOnly, onChange } = props
  const errorOf = (field: string) => (error?.refusal.field === field ? error.reasonAtField : undefined)
  return (
    <div className={classes.head}>
      <fieldset className={classes.buyer}>
        <legend>Payer</legend>
        <TextInput
          label="Name"
          maxLength={200}
          placeholder={buyer?.name ?? ''}
          value={values.name}
          error={errorOf('buyer.name')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ name: value })}
        />
        <Textarea
          label="Address"
          maxLength={500}
          autosize
          minRows={2}
          maxRows={8}
          placeholder={buyer?.address ?? ''}
          value={values.address}
          error={errorOf('buyer.address')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ address: value })}
        />
        <TextInput
          label="Tax number"
          maxLength={50}
          placeholder={buyer?.tax_number ?? ''}
          value={values.taxNumber}
          error={errorOf('buyer.tax_number')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ taxNumber: value })}
        />
        <TextInput
          label="Buyer reference"
          maxLength={100}
          placeholder={buyer?.reference ?? ''}
          value={values.reference}
          error={errorOf('buyer.reference')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ reference: value })}
        />
        <TextInput
          label="Order number"
          maxLength={100}
          placeholder={buyer?.order_number ?? ''}
          value={values.orderNumber}
          error={errorOf('buyer.order_number')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ orderNumber: value })}
        />
      </fieldset>
      <div className={classes.aside}>
        <fieldset className={classes.supply}>
          <legend>Supply</legend>
          <TextInput
            type="date"
            min="1900-01-01"
            max="9999-12-31"
            label="From"
            value={values.supplyFrom}
            error={errorOf('supply.from')}
            readOnly={readOnly}
            onChange={({ currentTarget: { value } }) => onChange({ supplyFrom: value })}
          />
          <TextInput
            type="date"
            min="1900-01-01"
            max="9999-12-31"
            label="To"
            value={values.supplyTo}
            error={errorOf('supply.to')}
            readOnly={readOnly}
            onChange={({ currentTarget: { value } }) => onChange({ supplyTo: value })}
          />
          <p>Left empty: the days of the entries that are billed, or the day of issue.</p>
        </fieldset>
        {isInvoice && (
          <TextInput
            label="Days to pay"
            maxLength={3}
            inputMode="numeric"
            placeholder={String(daysToPay)}
            value={values.daysToPay}
            error={errorOf('days_to_pay')}
            readOnly={readOnly}
            onChange={({ currentTarget: { value } }) => onChange({ daysToPay: value })}
          />
        )}
        <Textarea
          label="Note"
          className={classes.note ?? ''}
          maxLength={2000}
          autosize
          minRows={4}
          maxRows={12}
          placeholder="A text below the lines"
          value={values.note}
          error={errorOf('note')}
          readOnly={readOnly}
          onChange={({ currentTarget: { value } }) => onChange({ note: value })}
        />
      </div>
    </div>
  )
}
