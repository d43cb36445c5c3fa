import * as operations from './operations.ts'
import type { FastifyReply } from 'fastify'
import type { Audit } from '../access/audit/audit.ts'
import { idempotencyKeyOf } from '../access/new-id.ts'
import { permitted } from '../access/permitted.ts'
import type { Action } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import { recordId } from '../platform/database/uuid.ts'
import { basisOf, etagOf } from '../platform/http/versions.ts'
import { spreadsheetCsv } from '../platform/text/csv.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { bookedFile } from './reports/csv.ts'
import type { Invoices } from './invoices.ts'
import type { ShownInvoice } from './schema.ts'
import { registerUnbilled } from './unbilled/routes.ts'

export { invoiceExamples } from './examples.ts'

export interface InvoiceRouteNeeds {
  readonly invoices: Invoices
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
  readonly locale: string
}

/** /invoices, for partners. */
export function registerInvoices(server: Server, needs: InvoiceRouteNeeds): void {
  registerUnbilled(server, { ...needs, unbilled: needs.invoices.unbilled })
  registerReads(server, needs)
  registerReports(server, needs)
  registerDrafts(server, needs)
  registerIssued(server, needs)
}

const allowed = (needs: InvoiceRouteNeeds, action: Action) => permitted(needs, action, 'invoice')

function registerReads(server: Server, needs: InvoiceRouteNeeds): void {
  const { invoices } = needs

  server.get(
    '/invoices',
    { onRequest: allowed(needs, 'list'), schema: operations.listInvoices },
    async (request, reply) => represent(reply, request, { data: await invoices.list(visitOf(request), request.query) }),
  )

  server.get(
    '/invoices.csv',
    { onRequest: allowed(needs, 'list'), schema: operations.exportInvoices },
    async (request, reply) => {
      const booked = await invoices.export(visitOf(request), request.query)
      reply.header('content-disposition', 'attachment; filename="invoices.csv"').type('text/csv; charset=utf-8')
      return reply.send(bookedFile(booked, spreadsheetCsv(needs.locale)))
    },
  )

  server.get(
    '/invoices/new',
    { onRequest: allowed(needs, 'create'), schema: operations.beginInvoice },
    async (request, reply) =>
      represent(reply, request, { data: await invoices.begin(visitOf(request), request.query) }),
  )

  server.get(
    '/invoices/:invoice',
    { onRequest: allowed(needs, 'read'), schema: operations.readInvoice },
    async (request, reply) => {
      const data = await invoices.read(visitOf(request), recordId(request.params.invoice))
      return represent(reply, request, { data, headers: { etag: etagOf(data) } })
    },
  )
}

function registerReports(server: Server, needs: InvoiceRouteNeeds): void {
  const { reports } = needs.invoices

  server.get(
    '/invoices/report',
    { onRequest: allowed(needs, 'list'), schema: operations.reportInvoices },
    async (request, reply) => represent(reply, request, { data: await reports.read(visitOf(request)) }),
  )

  server.get(
    '/invoices/report.csv',
    { onRequest: allowed(needs, 'list'), schema: operations.exportReport },
    async (request, reply) => {
      const { query } = request
      const file = await reports.export(visitOf(request), query)
      reply.header('content-disposition', `attachment; filename="${query.of}.csv"`).type('text/csv; charset=utf-8')
      return reply.send(file)
    },
  )
}

function registerDrafts(server: Server, needs: InvoiceRouteNeeds): void {
  const { invoices } = needs

  server.post(
    '/invoices',
    { onRequest: allowed(needs, 'create'), schema: operations.createInvoice },
    async (request, reply) =>
      sendDraft(reply, await invoices.create(visitOf(request), request.body, idempotencyKeyOf(request))),
  )

  server.patch(
    '/invoices/:invoice',
    { onRequest: allowed(needs, 'change'), schema: operations.changeInvoice },
    async (request, reply) => {
      const change = { basis: basisOf(request.headers['if-match']), body: request.body }
      return withTag(reply, await invoices.change(visitOf(request), recordId(request.params.invoice), change))
    },
  )

  server.post(
    '/invoices/:invoice/issue',
    { onRequest: allowed(needs, 'change'), schema: operations.issueInvoice },
    async (request, reply) => {
      const basis = basisOf(request.headers['if-match'])
      return withTag(reply, await invoices.issue(visitOf(request), recordId(request.params.invoice), basis))
    },
  )

  server.post(
    '/invoices/:invoice/void',
    { onRequest: allowed(needs, 'change'), schema: operations.voidInvoice },
    async (request, reply) => {
      const basis = basisOf(request.headers['if-match'])
      return withTag(reply, await invoices.void(visitOf(request), recordId(request.params.invoice), basis))
    },
  )
}

function registerIssued(server: Server, needs: InvoiceRouteNeeds): void {
  const { invoices } = needs

  server.post(
    '/invoices/:invoice/payments',
    { onRequest: allowed(needs, 'change'), schema: operations.payInvoice },
    async (request, reply) => {
      const id = recordId(request.params.invoice)
      const paid = await invoices.pay(visitOf(request), id, request.body, idempotencyKeyOf(request))
      return withTag(reply.code(201), paid)
    },
  )

  server.post(
    '/invoices/:invoice/credit',
    { onRequest: allowed(needs, 'create'), schema: operations.creditInvoice },
    async (request, reply) => {
      const id = recordId(request.params.invoice)
      return sendDraft(reply, await invoices.credit(visitOf(request), id, request.body, idempotencyKeyOf(request)))
    },
  )
}

function sendDraft(reply: FastifyReply, draft: ShownInvoice): ShownInvoice {
  return withTag(reply.code(201).header('location', `/invoices/${draft.id}`), draft)
}

function withTag(reply: FastifyReply, invoice: ShownInvoice): ShownInvoice {
  reply.header('etag', etagOf(invoice))
  return invoice
}
