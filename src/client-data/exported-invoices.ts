import type { Visit } from '../access/actor.ts'
import { nameOf } from '../documents/file-name.ts'
import type { InvoiceFiles } from '../invoicing/files.ts'
import type { InvoiceMails } from '../invoicing/mails.ts'
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
 * All invoices and credit notes of a client, for partners: their data with the mails about them, and a file for each that was
 * issued. The file is the PDF that was mailed, else one that is written now, or XML if the fonts of the PDF lack some of its
 * characters. An invoice that can be neither is in the data only.
 */
export async function* exportedInvoices(
  { invoices, invoiceFiles, invoiceMails }: ExportedInvoicesNeeds,
  visit: Visit,
  clientId: string,
): AsyncGenerator<ZippedFile> {
  const found: ShownInvoice[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await invoices.list(visit, { client: clientId, ...(cursor !== undefined && { cursor }) })
    for (const { id } of page.invoices) found.push(await invoices.read(visit, id))
    cursor = page.next
  }
  yield { name: 'invoices.json', input: JSON.stringify(found, null, 2) }
  for (const { id, number, sent } of found) {
    if (number === null) continue
    const [mail] = sent
    if (mail !== undefined) {
      const { bytes } = await invoiceMails.file(visit, id, mail.id)
      yield { name: `invoices/${nameOf(number)}.pdf`, input: bytes }
      continue
    }
    for (const format of ['pdf', 'xml'] as const) {
      const input = await bytesOf(invoiceFiles.write(visit, id, format))
      if (input === undefined) continue
      yield { name: `invoices/${nameOf(number)}.${format}`, input }
      break
    }
  }
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
