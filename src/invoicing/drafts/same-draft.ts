import { isDeepStrictEqual } from 'node:util'
import { parseDecimal } from '../../platform/text/decimal.ts'
import { Problem } from '../../platform/problems.ts'
import type { DraftHead, DraftSubject } from '../changes-store.ts'
import type { InvoiceLine } from '../document.ts'
import type { CreditNoteBody } from '../schema.ts'
import type { StoredInvoice } from '../stored.ts'
import type { LooseLine } from './usage-lines.ts'

/**
 * Whether a repeated request asks for the draft that the first one created. What was changed since cannot be compared: of a
 * changed draft, only what no change affects counts.
 */

interface AskedDraft {
  readonly subject: Pick<DraftSubject, 'accountId' | 'clientId' | 'month'>
  readonly head: DraftHead
  readonly typed: readonly LooseLine[]
  /** The last day to bill, for a client. */
  readonly until: string | undefined
}

/** `lastBilled` is the last day that the draft bills; null if it bills no day. */
export function isSameDraft(kept: StoredInvoice, asked: AskedDraft, lastBilled: string | null): boolean {
  const { row, document } = kept
  const { accountId, clientId, month } = asked.subject
  if (row.account_id !== accountId || row.client_id !== clientId || row.month !== month) return false
  if (isChanged(kept)) return true
  const isBilled = asked.until === undefined ? lastBilled === null : (lastBilled ?? '') <= asked.until
  const typed = document.lines.filter(({ source }) => source === 'fee')
  return isBilled && isSameHead(kept, asked.head) && isDeepStrictEqual(typed.map(termsOf), asked.typed.map(termsOf))
}

/** The lines of a credit note never change. `invoice` is what it credits. */
export function isSameCredit(
  kept: StoredInvoice,
  { body, head }: { readonly body: CreditNoteBody; readonly head: DraftHead },
  invoice: StoredInvoice,
): boolean {
  if (!isChanged(kept) && !isSameHead(kept, head)) return false
  const { lines } = kept.document
  const asked = body.lines ?? invoice.document.lines.map(({ position }) => ({ position, quantity: undefined }))
  if (body.lines !== undefined && body.lines.length !== lines.length) return false
  return asked.every(({ position, quantity }) => {
    const line = lines.find((each) => each.creditsPosition === position)
    if (quantity === undefined) return isRest(line?.quantity ?? 0n, position, { kept, invoice })
    return line !== undefined && isQuantity(quantity, line.quantity)
  })
}

/** Whether a credit note takes off all that was left of a line. Others may have been issued since. */
function isRest(
  quantity: bigint,
  position: number,
  { kept, invoice }: { readonly kept: StoredInvoice; readonly invoice: StoredInvoice },
): boolean {
  const line = invoice.document.lines.find((each) => each.position === position)
  const issued = invoice.credited.lines.get(position)?.quantity ?? 0n
  const all = kept.row.state === 'issued' ? issued : issued + quantity
  return line !== undefined && all >= line.quantity
}

function isQuantity(text: string, quantity: bigint): boolean {
  try {
    return parseDecimal(text, 6) === quantity
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Issuing or voiding a draft makes one version more. */
const isChanged = ({ row: { state, version } }: StoredInvoice): boolean => version > (state === 'draft' ? 1 : 2)

/** An issued invoice also states what the draft left to the payer's record. */
function isSameHead({ row }: StoredInvoice, head: DraftHead): boolean {
  const isSame = <Value>(kept: Value | null, asked: Value | null) =>
    kept === asked || (asked === null && row.state === 'issued')
  return (
    row.note === head.note &&
    isSame(row.buyer_name, head.buyerName) &&
    isSame(row.buyer_address, head.buyerAddress) &&
    isSame(row.buyer_tax_number, head.buyerTaxNumber) &&
    isSame(row.buyer_reference, head.buyerReference) &&
    isSame(row.order_number, head.orderNumber) &&
    isSame(row.days_to_pay, head.daysToPay) &&
    isSame(row.supply_from, head.supplyFrom) &&
    isSame(row.supply_to, head.supplyTo)
  )
}

const termsOf = ({ text, quantity, unit, unitPrice, tax }: LooseLine | InvoiceLine) => {
  const { category, rate, reason } = tax
  return { text, quantity, unit, unitPrice, category, rate, reason }
}

export function otherDraft(kind: 'invoice' | 'credit_note'): Problem {
  const noun = kind === 'invoice' ? 'draft' : 'credit note'
  return new Problem('conflict', `This Idempotency-Key was used for another ${noun}. Nothing was created.`)
}
