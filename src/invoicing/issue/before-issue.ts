import { namedCharacters } from '../../documents/writing-thread.ts'
import { Problem } from '../../platform/problems.ts'
import { lawFault, standardFault } from './european-union.ts'
import type { InvoiceDocument } from '../document.ts'
import type { InvoiceSettings } from '../settings.ts'

/** What would be wrong with an invoice once it is issued. */
export interface IssueFault {
  /** A sentence. */
  readonly text: string
  /** Whether it cannot be issued so. */
  readonly stops: boolean
}

type Settings = Pick<InvoiceSettings, 'seller' | 'currency'>

/** Everything that is wrong with a draft, before its issue makes it final. */
export function faultsOf(draft: InvoiceDocument, { seller, currency }: Settings): IssueFault[] {
  const isInvoice = draft.kind === 'invoice'
  const stops = [
    seller === undefined ? noSeller().message : undefined,
    isInvoice && draft.currency !== currency ? otherCurrency(draft.currency).message : undefined,
    draft.lines.length === 0 ? 'The draft has no lines: add one before you issue it.' : undefined,
    // The buyer of a credit note is that of its invoice, and cannot be corrected.
    isInvoice ? lawFault(draft, seller?.tax_number ?? null) : undefined,
  ].filter((text) => text !== undefined)
  const issued = { ...draft, number: draft.number ?? '1', seller: draft.seller ?? seller ?? null }
  const standard = stops.length === 0 ? standardFault(issued) : undefined
  const warnings = [
    standard,
    isInvoice && draft.buyer.address === null
      ? 'The invoice has no address of the buyer, which the law usually requires: add it to the draft, and to the billing details of its client or account for later invoices.'
      : undefined,
    draft.supply === null
      ? 'The draft states no day of supply: the invoice will state the day of its issue.'
      : undefined,
  ].filter((text) => text !== undefined)
  return [...stops.map((text) => ({ text, stops: true })), ...warnings.map((text) => ({ text, stops: false }))]
}

/** For characters that no font has. */
export function withoutFont(missing: readonly string[]): IssueFault {
  return {
    text: `A PDF cannot show ${namedCharacters(missing)}: no font has them. Remove them from the draft.`,
    stops: true,
  }
}

/** The same for a draft of the monthly run, whose result is in the log: that must not contain parts of names. */
export const withoutFontInRun: IssueFault = {
  text: 'A PDF cannot show some of its characters: no font has them. Its page names them when you issue it there.',
  stops: true,
}

export function noSeller(): Problem {
  return new Problem('conflict', 'The configuration has no firm.name, which every invoice must state: set it first.')
}

/** For a draft that was created before the configuration changed. */
export function otherCurrency(currency: string): Problem {
  return new Problem('conflict', `The draft is in ${currency}, which the firm no longer uses: void it.`)
}

/** Undefined if nothing stops the issue. */
export function issueRefusal(faults: readonly IssueFault[]): Problem | undefined {
  const stopping = faults.filter(({ stops }) => stops)
  return stopping.length === 0 ? undefined : new Problem('conflict', stopping.map(({ text }) => text).join(' '))
}
