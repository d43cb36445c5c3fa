import type { Audit } from '../../access/audit/audit.ts'
import { idempotencyKeyOf } from '../../access/new-id.ts'
import { permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import { recordId } from '../../platform/database/uuid.ts'
import { etagOf } from '../../platform/http/versions.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import type { InvoiceMails } from './mails.ts'
import { proposeInvoiceMail, readSentInvoice, remindInvoice, sendInvoice } from '../operations.ts'

interface InvoiceMailRouteNeeds {
  readonly invoiceMails: InvoiceMails
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** The mails to payers, for partners. */
export function registerInvoiceMails(server: Server, needs: InvoiceMailRouteNeeds): void {
  const { invoiceMails } = needs

  server.get(
    '/invoices/:invoice/mail',
    { onRequest: permitted(needs, 'read', 'invoice'), schema: proposeInvoiceMail },
    async (request, reply) => {
      const { kind = 'invoice' } = request.query
      const data = await invoiceMails.propose(visitOf(request), recordId(request.params.invoice), kind)
      return represent(reply, request, { data })
    },
  )

  server.get(
    '/invoices/:invoice/mails/:mail/pdf',
    { onRequest: permitted(needs, 'read', 'invoice'), schema: readSentInvoice },
    async (request, reply) => {
      const { invoice, mail } = request.params
      const file = await invoiceMails.file(visitOf(request), recordId(invoice), recordId(mail))
      return reply.headers(file.headers).send(Buffer.from(file.bytes))
    },
  )

  for (const [path, kind, schema] of [
    ['send', 'invoice', sendInvoice],
    ['remind', 'reminder', remindInvoice],
  ] as const) {
    server.post(
      `/invoices/:invoice/${path}`,
      { onRequest: permitted(needs, 'change', 'invoice'), schema },
      async (request, reply) => {
        const id = recordId(request.params.invoice)
        const mail = { kind, body: request.body }
        const sent = await invoiceMails.send(visitOf(request), id, mail, idempotencyKeyOf(request))
        reply.code(201).header('etag', etagOf(sent))
        return sent
      },
    )
  }
}
