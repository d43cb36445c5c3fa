import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { today } from '../platform/text/calendar.ts'
import { Problem } from '../platform/problems.ts'
import { faultsOf, type IssueFault } from './issue/before-issue.ts'
import type { CreditedAmounts } from './drafts/credit-lines.ts'
import type { InvoiceDocument, InvoiceLine } from './document.ts'
import { readInvoiceMails, type InvoiceMailRow } from './mail/store.ts'
import type { InvoiceSettings } from './settings.ts'
import * as store from './store.ts'

/** An invoice with what happened to it since. */
export interface StoredInvoice {
  readonly row: store.InvoiceRow
  readonly document: InvoiceDocument
  readonly payments: readonly store.PaymentRow[]
  readonly creditNotes: readonly { readonly id: string; readonly number: string | null }[]
  readonly credited: CreditedAmounts
  readonly mails: readonly InvoiceMailRow[]
  /** Those of the client that name it and are not archived, newest first. */
  readonly disputes: readonly store.DisputeRow[]
  /** What is wrong with a draft, before its issue. */
  readonly faults: readonly IssueFault[]
}

/** Reads invoices. A refusal is in the audit log. */
export interface StoredInvoices {
  /** Throws Problem `not_found`, or another one for an id that does not exist. */
  find(visit: Visit, id: string, audited: AuditedAction, missing?: Problem): Promise<StoredInvoice>
}

interface StoredInvoicesNeeds {
  readonly access: Pick<RecordAccess, 'as' | 'decline'>
  readonly settings: Pick<InvoiceSettings, 'timeZone' | 'seller' | 'currency'>
}

export function createStoredInvoices({ access, settings }: StoredInvoicesNeeds): StoredInvoices {
  return Object.freeze({
    async find(visit: Visit, id: string, audited: AuditedAction, missing?: Problem) {
      const [[row], lines, payments, creditNotes, parts, taxes, mails, disputes] = await access.as(visit, [
        store.readInvoice(today(settings.timeZone), id),
        store.readLines(id),
        store.readPayments(id),
        store.readCreditNotes(id),
        store.readCreditedLines(id),
        store.readCreditedTaxes(id),
        readInvoiceMails(id),
        store.readDisputes(id),
      ])
      if (row === undefined && missing !== undefined) return access.decline(visit, audited, missing)
      if (row === undefined) throw notFound()
      const credited = { lines: new Map(parts.map((part) => [part.position, part])), taxes }
      const document = documentOf(row, lines)
      const faults = row.state === 'draft' ? faultsOf(document, settings) : []
      return { row, document, payments, creditNotes, credited, mails, disputes, faults }
    },
  })
}

function documentOf(row: store.InvoiceRow, lines: readonly InvoiceLine[]): InvoiceDocument {
  const exact = lines.reduce((sum, line) => sum + line.exact, 0n)
  return {
    kind: row.kind,
    number: row.number,
    issuedOn: row.issued_on,
    dueOn: row.due_on,
    seller: row.seller,
    buyer: buyerOf(row),
    language: row.language,
    month: row.month,
    supply: supplyOf(row),
    creditsNumber: row.credits_number,
    currency: row.currency,
    decimals: row.decimals,
    note: row.note,
    lines,
    totals: {
      net: row.net,
      tax: row.tax,
      gross: row.gross,
      rounding: row.net - exact,
      taxes: row.taxes.map((group) => ({ ...group, net: BigInt(group.net), tax: BigInt(group.tax) })),
    },
  }
}

/** What the draft of an invoice does not state comes from the account or the client, which can still change. */
function buyerOf(row: store.InvoiceRow): InvoiceDocument['buyer'] {
  const isOpen = row.state !== 'issued' && row.kind === 'invoice'
  return {
    name: row.payer_name,
    address: row.buyer_address ?? (isOpen ? row.payer_address : null),
    taxNumber: row.buyer_tax_number ?? (isOpen ? row.payer_tax_number : null),
    place: row.buyer_place,
    reference: row.buyer_reference,
    orderNumber: row.order_number,
  }
}

function supplyOf({ state, supply_from, supply_to, first_day, last_day }: store.InvoiceRow): InvoiceDocument['supply'] {
  const [from, to] = state === 'draft' ? [first_day, last_day] : [supply_from, supply_to]
  return from === null || to === null ? null : { from, to }
}

const notFound = (): Problem => new Problem('not_found', 'No invoice exists at this URL.')
