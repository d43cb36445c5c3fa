import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { clearAmount } from '../../../src/platform/text/typed-amount.ts'
import { ApiError, change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import type { Field, Value, Values } from '../../fields.ts'
import { decimalMark } from '../../locale.ts'
import classes from './invoice.module.css'
import { unitsText } from './lines.tsx'
import { isZero } from './zero.ts'

interface CreditDialogProps {
  readonly invoice: ShownInvoice
  readonly onClose: () => void
}

/** Creates the draft of a credit note and goes to it. */
export function CreditDialog({ invoice: { id, number, lines: all }, onClose }: CreditDialogProps) {
  const lines = all.filter(({ quantity_left: left }) => left !== null && !isZero(left))
  const navigate = useNavigate()
  const made = useRef<ShownInvoice>(undefined)
  const [key] = useState(newKey)
  return (
    <FormDialog title={`Credit note for ${number}`} onClose={onClose}>
      <p className={classes.about}>
        The quantities to credit, with the prices and taxes of the invoice. Clear a field to leave its line out. This
        creates a draft, which takes effect when you issue it. Earlier credit notes are already deducted.
      </p>
      <EditForm
        label={`Credit note for ${number}`}
        saveLabel="Create draft"
        fields={fieldsFor(lines)}
        initial={initialFor(lines)}
        save={async (typed) => {
          const body = creditBody(lines, typed)
          made.current = await change<ShownInvoice>(`/invoices/${id}/credit`, { method: 'POST', body, key }).catch(
            atLine(body.lines),
          )
        }}
        onSaved={() => made.current && navigate(`/invoices/${made.current.id}`)}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

type Lines = ShownInvoice['lines']

const nameOf = (position: number): string => `line ${position}`

const fieldsFor = (lines: Lines): readonly Field[] => [
  ...lines.map(({ position, text, unit }) => ({
    name: nameOf(position),
    label: `${text} (${unitsText(unit)})`,
    kind: 'amount' as const,
    maxLength: 40,
  })),
  { name: 'note', label: 'Note', kind: 'lines', maxLength: 2000, placeholder: 'Why the invoice is corrected' },
]

const initialFor = (lines: Lines): Values => ({
  ...Object.fromEntries(
    lines.map(({ position, quantity_left: left }) => [nameOf(position), clearAmount(left ?? '', decimalMark())]),
  ),
  note: '',
})

/** The lines with a quantity. */
function creditBody(lines: Lines, typed: Readonly<Record<string, Value | null>>) {
  const chosen = lines
    .map(({ position }) => ({ position, quantity: typed[nameOf(position)] ?? '' }))
    .filter(({ quantity }) => quantity !== '')
  return { lines: chosen, note: typed['note'] ?? '' }
}

/** Shows the refusal of a line at its field. */
function atLine(sent: readonly { readonly position: number }[]): (error: unknown) => never {
  return (error) => {
    const index = error instanceof ApiError ? /^lines\[(\d+)\]/.exec(error.refusal.field ?? '')?.[1] : undefined
    const line = index === undefined ? undefined : sent[Number(index)]
    if (!(error instanceof ApiError) || line === undefined) throw error
    throw new ApiError(error.status, { ...error.refusal, field: nameOf(line.position) })
  }
}
