import { Problem } from '../../platform/problems.ts'
import { creditAmounts, type CreditedPart, type CreditedTax } from '../arithmetic.ts'
import { priceBase, type InvoiceDocument, type InvoiceLine } from '../document.ts'
import type { CreditNoteBody } from '../schema.ts'
import { quantityIn } from './typed-lines.ts'
import type { LooseLine } from './usage-lines.ts'

/** What the issued credit notes of an invoice take off it. */
export interface CreditedAmounts {
  /** By the position of the line. */
  readonly lines: ReadonlyMap<number, CreditedPart>
  readonly taxes: readonly CreditedTax[]
}

/**
 * The lines of a credit note, with the prices and taxes of the invoice that it corrects: those that are chosen, or all that
 * is left. Throws Problem `invalid_field`, and `conflict` if nothing is left.
 */
export function creditLines(
  { lines, decimals }: InvoiceDocument,
  credited: CreditedAmounts,
  { lines: chosen }: CreditNoteBody,
): LooseLine[] {
  const picked: NonNullable<CreditNoteBody['lines']> = chosen ?? remaining(lines, credited)
  if (picked.length === 0) throw new Problem('conflict', 'The invoice has already been credited in full.')
  if (new Set(picked.map(({ position }) => position)).size < picked.length) {
    throw new Problem('invalid_field', 'Name each line once.', { field: 'lines' })
  }
  return picked.map(({ position, quantity }, index) => {
    const line = lines.find((each) => each.position === position)
    if (line === undefined) throw noLine(position, index)
    const before = partBefore(line, credited)
    const chosenQuantity = quantityOf({ text: quantity, most: line.quantity - before.quantity, index })
    return creditOf(
      line,
      chosenQuantity,
      creditAmounts(chosenQuantity, { price: line.unitPrice, base: priceBase(line.unit), decimals }, before),
    )
  })
}

/** The quantity of a line that no issued credit note takes off. */
export const quantityLeft = (line: InvoiceLine, credited: CreditedAmounts): bigint =>
  line.quantity - partBefore(line, credited).quantity

const remaining = (lines: readonly InvoiceLine[], credited: CreditedAmounts) =>
  lines.filter((line) => quantityLeft(line, credited) > 0n).map(({ position }) => ({ position }))

const partBefore = ({ position }: InvoiceLine, { lines }: CreditedAmounts): CreditedPart =>
  lines.get(position) ?? { quantity: 0n, net: 0n }

function creditOf(line: InvoiceLine, quantity: bigint, amounts: Pick<InvoiceLine, 'exact' | 'net'>): LooseLine {
  const { position, ...rest } = line
  return {
    ...rest,
    ...amounts,
    quantity,
    source: 'credit',
    model: null,
    direction: null,
    entry: null,
    letters: null,
    creditsPosition: position,
  }
}

function quantityOf({ text, most, index }: { text: string | undefined; most: bigint; index: number }): bigint {
  const field = `lines[${index}].quantity`
  if (most === 0n) {
    throw new Problem('invalid_field', `This line has already been credited in full.`, { field })
  }
  return text === undefined ? most : quantityIn(text, field, most)
}

function noLine(position: number, index: number): Problem {
  return new Problem('invalid_field', `The invoice has no line ${position}.`, { field: `lines[${index}].position` })
}
