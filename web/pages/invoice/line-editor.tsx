import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import { memo, useCallback, useEffect, useRef, type KeyboardEvent } from 'react'
import type { DraftOptions, NewLine } from '../../../src/invoicing/schema.ts'
import { formatDecimal } from '../../../src/platform/text/decimal.ts'
import { decimalText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import classes from './draft-form.module.css'
import { amountsOf, emptyLine, type TypedLine } from './draft-values.ts'
import { unitsText } from './lines.tsx'

type Start = Pick<DraftOptions, 'taxes' | 'currency' | 'decimals'>

interface LineEditorProps {
  readonly lines: readonly TypedLine[]
  readonly start: Start
  /** The line and the field that the server refused. */
  readonly refused: { readonly key: number; readonly name: string; readonly reason: string } | undefined
  readonly readOnly: boolean
  /** The same function in every render, so that typing into one line renders only that line. */
  readonly onChange: ChangeLines
}

type ChangeLines = (change: (lines: readonly TypedLine[]) => readonly TypedLine[]) => void

/** The typed lines. Enter adds one below, Alt with an arrow moves one; the focus goes with it. */
export function LineEditor({ lines, start, refused, readOnly, onChange }: LineEditorProps) {
  const list = useRef<HTMLDivElement>(null)
  /** What gets the focus when the lines have changed. */
  const next = useRef<Next>(undefined)
  useEffect(() => {
    if (next.current) fieldAt(list.current, next.current)?.focus()
    next.current = undefined
  })
  useEffect(() => {
    if (refused) fieldIn(list.current, refused)?.focus()
  }, [refused])
  const focusNext = useCallback((field: Next) => {
    next.current = field
  }, [])

  return (
    <div ref={list} className={classes.lines}>
      {lines.map((line, index) => (
        <Line
          key={line.key}
          line={line}
          index={index}
          count={lines.length}
          start={start}
          error={refused?.key === line.key ? refused : undefined}
          readOnly={readOnly}
          onChange={onChange}
          focusNext={focusNext}
        />
      ))}
      <Button
        data-add
        variant="default"
        className={classes.add}
        leftSection={<IconPlus size={15} aria-hidden />}
        disabled={readOnly}
        onClick={() => {
          const fresh = lineBelow(lines.at(-1), start)
          focusNext({ key: fresh.key, name: 'text' })
          onChange((before) => [...before, fresh])
        }}
      >
        Add line
      </Button>
    </div>
  )
}

/** A field of a line, or the text of the line that is now at the place of a removed one. */
type Next = { readonly key: number; readonly name: string } | { readonly place: number } | undefined

function fieldAt(list: HTMLElement | null, next: NonNullable<Next>): HTMLElement | null | undefined {
  if ('key' in next) return fieldIn(list, next)
  const texts = [...(list?.querySelectorAll<HTMLElement>('[data-field=text]') ?? [])]
  return texts[next.place] ?? texts.at(-1) ?? list?.querySelector<HTMLElement>('[data-add]')
}

interface LineProps extends Pick<LineEditorProps, 'start' | 'readOnly' | 'onChange'> {
  readonly line: TypedLine
  readonly index: number
  readonly count: number
  readonly error: LineFieldsProps['error']
  readonly focusNext: (field: Next) => void
}

const Line = memo(function Line({ line, index, count, start, error, readOnly, onChange, focusNext }: LineProps) {
  function move(by: -1 | 1, name: string) {
    focusNext({ key: line.key, name })
    onChange((lines) => {
      const other = lines[index + by]
      return other ? lines.with(index, other).with(index + by, line) : lines
    })
  }
  function addBelow() {
    const fresh = lineBelow(line, start)
    focusNext({ key: fresh.key, name: 'text' })
    onChange((lines) => lines.toSpliced(index + 1, 0, fresh))
  }
  function remove() {
    focusNext({ place: index })
    onChange((lines) => lines.filter(({ key }) => key !== line.key))
  }
  function onKeyDown(event: KeyboardEvent) {
    const name = event.target instanceof HTMLElement ? event.target.dataset['field'] : undefined
    if (name === undefined || readOnly) return
    if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      addBelow()
    }
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault()
      move(event.key === 'ArrowUp' ? -1 : 1, name)
    }
  }
  return (
    <fieldset aria-label={`Line ${index + 1}`} data-line={line.key} className={classes.line} onKeyDown={onKeyDown}>
      <LineFields
        line={line}
        start={start}
        error={error}
        readOnly={readOnly}
        onChange={(changed) => onChange((lines) => lines.map((each) => (each.key === changed.key ? changed : each)))}
      />
      <LineActions
        number={index + 1}
        count={count}
        disabled={readOnly}
        onMove={(by) => move(by, by === -1 ? 'up' : 'down')}
        onRemove={remove}
      />
    </fieldset>
  )
})

/** A new line. It copies the unit and the tax of the line above, but no tax that is no longer configured. */
function lineBelow(above: TypedLine | undefined, { taxes }: Start): TypedLine {
  const fresh = emptyLine(taxes)
  return above ? { ...fresh, unit: above.unit, ...(above.tax !== '' && { tax: above.tax }) } : fresh
}

function fieldIn(list: HTMLElement | null, { key, name }: { readonly key: number; readonly name: string }) {
  return list?.querySelector<HTMLElement>(`[data-line="${key}"] [data-field="${name}"]`)
}

interface LineFieldsProps {
  readonly line: TypedLine
  readonly start: Start
  readonly error: { readonly name: string; readonly reason: string } | undefined
  readonly readOnly: boolean
  readonly onChange: (line: TypedLine) => void
}

const typedUnits: readonly NewLine['unit'][] = ['hour', 'day', 'month', 'piece', 'lump_sum', 'kilometre']

function LineFields({ line, start: { taxes, currency, decimals }, error, readOnly, onChange }: LineFieldsProps) {
  const amounts = amountsOf(line, decimals)
  const errorOf = (name: string) => (error?.name === name ? error.reason : undefined)
  const units = typedUnits.includes(line.unit) ? typedUnits : [...typedUnits, line.unit]
  const unit = (value: string) => units.find((each) => each === value) ?? line.unit
  return (
    <>
      <TextInput
        data-field="text"
        label="Text"
        className={classes.text ?? ''}
        maxLength={500}
        value={line.text}
        error={errorOf('text')}
        readOnly={readOnly}
        onChange={({ currentTarget: { value } }) => onChange({ ...line, text: value })}
      />
      <TextInput
        data-field="quantity"
        label="Quantity"
        className={classes.number ?? ''}
        inputMode="decimal"
        maxLength={40}
        value={line.quantity}
        error={errorOf('quantity')}
        readOnly={readOnly}
        onChange={({ currentTarget: { value } }) => onChange({ ...line, quantity: value })}
      />
      <NativeSelect
        data-field="unit"
        label="Unit"
        data={units.map((value) => ({ value, label: unitsText(value) }))}
        value={line.unit}
        error={errorOf('unit')}
        onChange={({ currentTarget: { value } }) => onChange({ ...line, unit: unit(value) })}
      />
      <TextInput
        data-field="unit_price"
        label={`Price (${currency})`}
        className={classes.number ?? ''}
        inputMode="decimal"
        maxLength={40}
        value={line.price}
        error={errorOf('unit_price')}
        readOnly={readOnly}
        onChange={({ currentTarget: { value } }) => onChange({ ...line, price: value })}
      />
      <NativeSelect
        data-field="tax"
        label="Tax"
        data={taxChoices(taxes, line)}
        value={line.tax}
        error={errorOf('tax')}
        onChange={({ currentTarget: { value } }) => onChange({ ...line, tax: value })}
      />
      <output className={classes.net} aria-label="Net">
        {amounts ? moneyText(formatDecimal(amounts.net, 12), currency) : '–'}
      </output>
    </>
  )
}

function taxChoices(taxes: DraftOptions['taxes'], { tax, formerTax }: TypedLine) {
  const known = taxes.map(({ id, rate }) => ({ value: id, label: `${decimalText(rate)}% ${id}` }))
  return tax === '' ? [{ value: '', label: `${decimalText(formerTax?.rate ?? '0')}% (old)` }, ...known] : known
}

interface LineActionsProps {
  readonly number: number
  readonly count: number
  readonly disabled: boolean
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

function LineActions({ number, count, disabled, onMove, onRemove }: LineActionsProps) {
  return (
    <div className={classes.actions}>
      <ActionIcon
        variant="subtle"
        data-field="up"
        aria-label={`Move line ${number} up`}
        disabled={disabled || number === 1}
        onClick={() => onMove(-1)}
      >
        <IconArrowUp size={15} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        data-field="down"
        aria-label={`Move line ${number} down`}
        disabled={disabled || number === count}
        onClick={() => onMove(1)}
      >
        <IconArrowDown size={15} />
      </ActionIcon>
      <ActionIcon variant="subtle" aria-label={`Remove line ${number}`} disabled={disabled} onClick={onRemove}>
        <IconTrash size={15} />
      </ActionIcon>
    </div>
  )
}
