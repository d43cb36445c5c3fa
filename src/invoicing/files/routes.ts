import type { Audit } from '../../access/audit/audit.ts'
import { permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import { recordId } from '../../platform/database/uuid.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import type { InvoiceFiles } from './files.ts'
import { invoiceFile } from '../operations.ts'

interface InvoiceFileRouteNeeds {
  readonly invoiceFiles: InvoiceFiles
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** The files of an invoice, for partners. */
export function registerInvoiceFiles(server: Server, needs: InvoiceFileRouteNeeds): void {
  for (const format of ['pdf', 'xml'] as const) {
    server.get(
      `/invoices/:invoice/${format}`,
      { onRequest: permitted(needs, 'read', 'invoice'), schema: invoiceFile(format) },
      async (request, reply) => {
        const file = await needs.invoiceFiles.write(visitOf(request), recordId(request.params.invoice), format)
        return reply.headers(file.headers).send(Buffer.from(file.bytes))
      },
    )
  }
}
