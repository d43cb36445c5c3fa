import { Problem } from '../../platform/problems.ts'
import { creditLines } from './credit-lines.ts'
import type { InvoiceDocument, InvoiceLine } from '../document.ts'
import type { CreditNoteBody, InvoiceChange } from '../schema.ts'
import type { InvoiceSettings } from '../settings.ts'
import type { StoredInvoice } from '../stored.ts'
import { typedLines } from './typed-lines.ts'
import { numbered, type LooseLine } from './usage-lines.ts'

/**
 * The lines of a draft after a change: what was proposed stays as it is, unless it is left out, and the typed lines follow.
 * The same list if the change has none. Throws Problem `invalid_field`.
 */
export function changedLines(
  document: InvoiceDocument,
  { lines, left_out: leftOut }: InvoiceChange,
  settings: InvoiceSettings,
): readonly InvoiceLine[] {
  if (lines === undefined && leftOut === undefined) return document.lines
  if (document.kind === 'credit_note') {
    throw new Problem('invalid_field', 'A credit note has the lines of its invoice: void it and write another.', {
      field: lines === undefined ? 'left_out' : 'lines',
    })
  }
  const names = new Set(leftOut)
  const used = document.lines.filter((line) => line.source !== 'fee' && !isNamed(line, names))
  const typed =
    lines === undefined
      ? document.lines.filter(({ source }) => source === 'fee')
      : typedLines(lines, { ...settings, decimals: document.decimals })
  return numbered([...used, ...typed])
}

/** Whether a proposed line is named: by its entry, or by its month if it is for letters. */
function isNamed({ entry, letters }: InvoiceLine, names: ReadonlySet<string>): boolean {
  const name = entry?.id ?? letters?.month.slice(0, 7)
  return name !== undefined && names.has(name)
}

/** The lines of a new credit note, or why there can be none. */
export function linesToCredit(
  { document, credited }: Pick<StoredInvoice, 'document' | 'credited'>,
  body: CreditNoteBody,
): readonly InvoiceLine[] | Problem {
  try {
    return numbered(creditLines(document, credited, body))
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

const isOutsideScope = ({ tax }: Pick<InvoiceLine, 'tax'>): boolean => tax.category === 'O'

/**
 * The unbilled lines that can be on one invoice: those that the typed lines allow, and without any, those that are not outside
 * the scope of tax. Only if there are none are the others billed. What is not returned stays unbilled, for another draft.
 */
export function billedTogether(unbilled: readonly LooseLine[], typed: readonly LooseLine[]): LooseLine[] {
  const [first] = typed
  const isOutside = first === undefined ? unbilled.every(isOutsideScope) : isOutsideScope(first)
  return unbilled.filter((line) => isOutsideScope(line) === isOutside)
}

/** A line outside the scope of tax excludes all others (BR-O-11). Throws Problem `invalid_field`. */
export function checkTaxes(lines: readonly InvoiceLine[]): void {
  const outside = lines.filter(isOutsideScope).length
  if (outside === 0 || outside === lines.length) return
  throw new Problem(
    'invalid_field',
    'Lines with a tax of category O cannot be on the same invoice as lines with other taxes. Bill them on an invoice of their own.',
    {
      field: 'lines',
    },
  )
}
