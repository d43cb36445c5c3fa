import type { Visit } from '../access/actor.ts'
import { nameOf } from '../documents/file-name.ts'
import type { InvoiceFiles } from '../invoicing/files/files.ts'
import type { InvoiceMails } from '../invoicing/mail/mails.ts'
import type { Invoices } from '../invoicing/invoices.ts'
import type { ShownInvoice } from '../invoicing/schema.ts'
import { Problem } from '../platform/problems.ts'
import type { ZippedFile } from './zip.ts'

interface ExportedInvoicesNeeds {
  readonly invoices: Pick<Invoices, 'list' | 'read'>
  readonly invoiceFiles: Pick<InvoiceFiles, 'write'>
  readonly invoiceMails: Pick<InvoiceMails, 'file'>
}

/**
 * All invoices and credit notes of a client, for partners: their data with the mails about them, and one file for each issued
 * invoice. The file is the mailed PDF; if none was mailed, a new PDF; or XML if the PDF's fonts lack some of its characters. An
 * invoice that can be written as neither is only in the data.
 */
export async function* exportedInvoices(
  needs: ExportedInvoicesNeeds,
  visit: Visit,
  clientId: string,
): AsyncGenerator<ZippedFile> {
  const found = await allInvoices(needs, visit, clientId)
  yield { name: 'invoices.json', input: JSON.stringify(found, null, 2) }
  for (const invoice of found) {
    const file = await fileOf(needs, visit, invoice)
    if (file !== undefined) yield file
  }
}

async function allInvoices({ invoices }: ExportedInvoicesNeeds, visit: Visit, client: string): Promise<ShownInvoice[]> {
  const found: ShownInvoice[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await invoices.list(visit, { client, ...(cursor !== undefined && { cursor }) })
    for (const { id } of page.invoices) found.push(await invoices.read(visit, id))
    cursor = page.next
  }
  return found
}

/** Undefined for a draft, and if the invoice can be written in neither format. */
async function fileOf(
  { invoiceFiles, invoiceMails }: ExportedInvoicesNeeds,
  visit: Visit,
  { id, number, sent }: ShownInvoice,
): Promise<ZippedFile | undefined> {
  if (number === null) return undefined
  const name = `invoices/${nameOf(number)}`
  const [mail] = sent
  if (mail !== undefined) return { name: `${name}.pdf`, input: (await invoiceMails.file(visit, id, mail.id)).bytes }
  for (const format of ['pdf', 'xml'] as const) {
    const input = await bytesOf(invoiceFiles.write(visit, id, format))
    if (input !== undefined) return { name: `${name}.${format}`, input }
  }
  return undefined
}

/** Undefined if the invoice cannot be written in this format. */
async function bytesOf(written: ReturnType<InvoiceFiles['write']>): Promise<Uint8Array | undefined> {
  try {
    return (await written).bytes
  } catch (error) {
    if (error instanceof Problem && error.code === 'conflict') return undefined
    throw error
  }
}
