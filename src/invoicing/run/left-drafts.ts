import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { withoutFontInRun } from '../issue/before-issue.ts'
import { readDraftTexts, type RunInvoice, type WrittenTexts } from './store.ts'
import type { InvoiceSettings } from '../settings.ts'
import { createStoredInvoices } from '../stored.ts'

/** A draft of the monthly run that should have been issued, and what stops that. */
export interface LeftDraft {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** Sentences. */
  readonly reasons: readonly string[]
}

/** The characters of some texts that no font of a PDF has. */
export type FindUnprintable = (texts: readonly string[]) => Promise<readonly string[]>

interface LeftDraftsNeeds {
  readonly access: Pick<RecordAccess, 'as' | 'decline'>
  readonly settings: InvoiceSettings
  readonly unprintable: FindUnprintable
}

/** Those that a PDF could show. Asks once for all, and for each only if that finds something. */
export async function printableIn(unprintable: FindUnprintable, written: readonly WrittenTexts[]): Promise<string[]> {
  const ids = written.map(({ id }) => id)
  const missing = await unprintable(written.flatMap(({ texts }) => texts))
  if (missing.length === 0) return ids
  const found: string[] = []
  for (const { id, texts } of written) if ((await unprintable(texts)).length === 0) found.push(id)
  return found
}

/** Why the run did not issue some invoices. Leaves out those that someone issued or voided meanwhile. */
export async function leftDrafts(
  visit: Visit,
  { access, settings, unprintable }: LeftDraftsNeeds,
  invoices: readonly RunInvoice[],
): Promise<LeftDraft[]> {
  if (invoices.length === 0) return []
  const stored = createStoredInvoices({ access, settings })
  const [written] = await access.as(visit, [readDraftTexts(invoices.map(({ id }) => id))])
  const printable = new Set(await printableIn(unprintable, written))
  const left: LeftDraft[] = []
  for (const { id, accountId, name } of invoices) {
    const { row, faults } = await stored.find(visit, id, { action: 'invoice_read', noun: 'invoice', nounId: id })
    const stopping = [...faults, ...(printable.has(id) ? [] : [withoutFontInRun])].filter(({ stops }) => stops)
    if (row.state === 'draft') left.push({ id, accountId, name, reasons: stopping.map(({ text }) => text) })
  }
  return left
}
