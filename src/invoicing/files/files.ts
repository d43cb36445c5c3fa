import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { attachment } from '../../documents/file-name.ts'
import type { WritingThread } from '../../documents/writing-thread.ts'
import { Problem } from '../../platform/problems.ts'
import { standardFault } from '../issue/european-union.ts'
import type { InvoiceDocument } from '../document.ts'
import { invoiceXml } from './invoice-xml.ts'
import { invoicePaper } from './paper.ts'
import type { InvoiceSettings } from '../settings.ts'
import { createStoredInvoices } from '../stored.ts'

export type InvoiceFileFormat = 'pdf' | 'xml'

/** A file, with the headers of its response. */
export interface InvoiceFile {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Invoices as files. Those of an issued invoice never change. */
export interface InvoiceFiles {
  /**
   * Writes an audit event whether it allows or refuses. Throws Problem `not_found`, and `conflict` if the invoice cannot
   * be written in this format.
   */
  write(visit: Visit, id: string, format: InvoiceFileFormat): Promise<InvoiceFile>
  /** The PDF of an invoice that is already read, such as for a mail. Throws Problem `conflict` as above. */
  pdf(document: InvoiceDocument): Promise<Uint8Array>
}

interface InvoiceFilesNeeds {
  readonly access: RecordAccess
  readonly settings: InvoiceSettings
  readonly thread: Pick<WritingThread, 'writeInvoice'>
}

export function createInvoiceFiles({ access, settings, thread }: InvoiceFilesNeeds): InvoiceFiles {
  const stored = createStoredInvoices({ access, settings })
  const pdf = (document: InvoiceDocument) => thread.writeInvoice(invoicePaper(document, settings))

  return Object.freeze<InvoiceFiles>({
    pdf,
    async write(visit, id, format) {
      const audited: AuditedAction = { action: 'invoice_exported', noun: 'invoice', nounId: id, details: { format } }
      const { document, row } = await stored.find(visit, id, audited)
      if (row.state === 'void')
        return access.decline(visit, audited, new Problem('conflict', 'A void draft has no files.'))
      const written = format === 'pdf' ? pdf(document) : xml(document)
      const bytes = await written.catch((error: unknown) => {
        if (error instanceof Problem) return access.decline(visit, audited, error)
        throw error
      })
      await access.note(visit, audited)
      return { bytes, headers: fileHeaders(titleOf(document), format) }
    },
  })
}

async function xml(document: InvoiceDocument): Promise<Uint8Array> {
  const fault = standardFault(document)
  if (fault !== undefined) throw new Problem('conflict', fault)
  return Buffer.from(invoiceXml(document))
}

function titleOf({ kind, number }: InvoiceDocument): string {
  return number ?? (kind === 'invoice' ? 'Draft of an invoice' : 'Draft of a credit note')
}

export function fileHeaders(title: string, format: InvoiceFileFormat): Record<string, string> {
  const type = { pdf: 'application/pdf', xml: 'application/xml; charset=utf-8' }[format]
  return { 'cache-control': 'no-store', 'content-type': type, 'content-disposition': attachment(title, format) }
}
