import type { Visit } from '../access/actor.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import type { InvoiceTotals } from './arithmetic.ts'
import type { BuyerPlace, InvoiceLine } from './document.ts'
import type { PaymentMethod } from './schema.ts'
import type { NumberSeries, Seller } from './settings.ts'

/** The outcome of a change: see create_invoice(), change_invoice(), issue_invoice() and void_invoice(). */
export type InvoiceOutcome =
  | 'created'
  | 'exists'
  | 'no_payer'
  | 'changed'
  | 'voided'
  | 'issued'
  | 'paid'
  | 'unknown'
  | 'stale'
  | 'was_issued'
  | 'was_void'
  | 'empty'
  | 'archived'
  | 'exceeds'
  | 'credited_since'
type Changed = PreparedStatement<{ readonly outcome: InvoiceOutcome }>

/** What a draft says besides its lines. */
export interface DraftHead {
  readonly note: string
  readonly buyerName: string | null
  readonly buyerAddress: string | null
  readonly buyerTaxNumber: string | null
  /** The parts of `buyerAddress`; null if it was written. */
  readonly buyerPlace: BuyerPlace | null
  readonly buyerReference: string | null
  readonly orderNumber: string | null
  /** From issue to due date. Null: as the configuration has it. */
  readonly daysToPay: number | null
  /** The language of a new draft, which does not change. Null: that of the firm. */
  readonly language: string | null
  /** The first and the last day of supply; null: those of what it bills. */
  readonly supplyFrom: string | null
  readonly supplyTo: string | null
}

/** What a draft bills, which never changes. */
export interface DraftSubject {
  readonly kind: 'invoice' | 'credit_note'
  readonly accountId: string | null
  readonly clientId: string | null
  /** The first day of the month. */
  readonly month: string | null
  readonly creditsId: string | null
  readonly currency: string
  readonly decimals: number
}

export interface DraftContent extends DraftHead {
  readonly lines: readonly InvoiceLine[]
  readonly totals: InvoiceTotals
}

export function insertDraft(visit: Visit, id: string, subject: DraftSubject, draft: DraftContent): Changed {
  const { kind, accountId, clientId, month, creditsId, currency, decimals } = subject
  const bills = { kind, account_id: accountId, client_id: clientId, month, credits_id: creditsId, currency, decimals }
  return {
    name: 'create invoice',
    text: 'select create_invoice($1, $2, $3, $4, $5) as outcome',
    values: [
      id,
      JSON.stringify({ ...bills, ...headJson(draft) }),
      JSON.stringify(linesJson(draft.lines)),
      ...origin(visit),
    ],
  }
}

export function updateDraft(visit: Visit, id: string, version: number, draft: DraftContent): Changed {
  return {
    name: 'change invoice',
    text: 'select change_invoice($1, $2, $3, $4, $5, $6) as outcome',
    values: [id, version, JSON.stringify(headJson(draft)), JSON.stringify(linesJson(draft.lines)), ...origin(visit)],
  }
}

export function voidDraft(visit: Visit, id: string, version: number): Changed {
  return {
    name: 'void invoice',
    text: 'select void_invoice($1, $2, $3, $4) as outcome',
    values: [id, version, ...origin(visit)],
  }
}

/** What an invoice gets when it is issued. */
export interface IssueTerms {
  readonly series: NumberSeries
  readonly issuedOn: string
  readonly dueOn: string
  /** Undefined is refused before the statement runs. */
  readonly seller: Seller | undefined
}

export function issueDraft(visit: Visit, id: string, version: number, terms: IssueTerms): Changed {
  return {
    name: 'issue invoice',
    text: 'select issue_invoice($1, $2, $3, $4, $5, $6, $7, $8, $9) as outcome',
    values: [id, version, ...issueValues(visit, terms)],
  }
}

/** The values of `issue_invoice()` after the draft and its version. */
export function issueValues(visit: Visit, { series, issuedOn, dueOn, seller }: IssueTerms) {
  return [series.name, series.digits, issuedOn, dueOn, JSON.stringify(seller ?? null), ...origin(visit)] as const
}

export interface NewPayment {
  readonly id: string
  readonly date: string
  readonly amount: bigint
  readonly method: PaymentMethod
  readonly reference: string
  readonly reversesId: string | null
}

export function insertPayment(visit: Visit, invoiceId: string, payment: NewPayment): Changed {
  const { id, date, amount, method, reference, reversesId } = payment
  return {
    name: 'pay invoice',
    text: 'select pay_invoice($1, $2, $3, $4, $5, $6, $7, $8, $9) as outcome',
    values: [invoiceId, id, date, amount, method, reference, reversesId, ...origin(visit)],
  }
}

const origin = ({ requestId, address }: Visit) => [requestId, address] as const

function headJson({ totals, ...head }: DraftContent): object {
  const { note, buyerName, buyerAddress, buyerTaxNumber, buyerPlace, supplyFrom, supplyTo } = head
  return {
    note,
    buyer_name: buyerName,
    buyer_address: buyerAddress,
    buyer_tax_number: buyerTaxNumber,
    buyer_place: buyerPlace,
    buyer_reference: head.buyerReference,
    order_number: head.orderNumber,
    days_to_pay: head.daysToPay,
    language: head.language,
    supply_from: supplyFrom,
    supply_to: supplyTo,
    ...totalsJson(totals),
  }
}

/** As columns of the table `invoice`. */
export function totalsJson({ net, tax, gross, taxes }: InvoiceTotals): object {
  return {
    net: String(net),
    tax: String(tax),
    gross: String(gross),
    taxes: taxes.map((group) => ({ ...group, net: String(group.net), tax: String(group.tax) })),
  }
}

/** As rows of the table `invoice_line`, without their invoice. */
export function linesJson(lines: readonly InvoiceLine[]): object[] {
  return lines.map((line) => ({
    position: line.position,
    source: line.source,
    text: line.text,
    quantity: String(line.quantity),
    unit: line.unit,
    unit_price: String(line.unitPrice),
    exact: String(line.exact),
    net: String(line.net),
    tax_category: line.tax.category,
    tax_rate: line.tax.rate,
    tax_reason: line.tax.reason,
    model: line.model,
    direction: line.direction,
    credits_position: line.creditsPosition,
    entry_id: line.entry?.id,
    entry_version: line.entry?.version,
    month: line.letters?.month,
    markup: line.letters?.markup,
  }))
}
