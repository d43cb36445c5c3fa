import { Type } from 'typebox'
import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import { invoiceMailBody, invoiceMailQuery, proposedMail } from './mail/schema.ts'
import * as schema from './schema.ts'
import { unbilledFileQuery, unbilledList, unbilledQuery } from './unbilled/schema.ts'

/** The OpenAPI operations of /invoices. All are for partners. */
const listing: readonly ProblemCode[] = [
  'malformed_request',
  'not_signed_in',
  'forbidden',
  'internal',
  'unavailable',
  'invalid_field',
  'unknown_field',
]
const reading: readonly ProblemCode[] = [
  'malformed_request',
  'not_signed_in',
  'forbidden',
  'internal',
  'unavailable',
  'not_found',
]
const acting: readonly ProblemCode[] = [...reading, 'cross_site_request', 'invalid_field', 'conflict']
const based: readonly ProblemCode[] = ['precondition_required', 'stale_version']
const sending: readonly ProblemCode[] = [
  'malformed_json',
  'missing_field',
  'unknown_field',
  'request_too_large',
  'unsupported_media_type',
]

const text = (description: string) => Type.String({ description })
const inInvoices = { tags: ['Invoices'], ...needsSession }
const params = Type.Object({ invoice: text('The id of the invoice.') })
const etag = { etag: text('The version of the invoice, to send back in If-Match.') }
const ifMatch = Type.Object({ 'If-Match': text('The ETag of the invoice that the change is based on, or `*`.') })
const idempotent = {
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      text(
        'A UUIDv7. A repeated request by the same person with the same key changes nothing and returns the invoice in its ' +
          'current state. It gets 409 `conflict` if it asks for something else.',
      ),
    ),
  }),
}
const invoice = (description: string) => answers(schema.shownInvoice, description, etag)
const created = answers(schema.shownInvoice, 'The draft.', { ...etag, location: text('The URL of the draft.') })

export const listInvoices = {
  ...inInvoices,
  operationId: 'listInvoices',
  summary: 'List invoices',
  description: 'Invoices and credit notes, the newest first, 50 at a time. For partners.',
  querystring: schema.invoiceQuery,
  response: { 200: answers(schema.invoiceList, 'One page.'), ...refusals(listing) },
}

export const exportInvoices = {
  ...inInvoices,
  operationId: 'exportInvoices',
  summary: 'Export invoices',
  description:
    'What was issued on the days from `from` to `to`, as a CSV file with a row for each invoice and tax. Credit notes are negative. For partners.',
  querystring: schema.exportQuery,
  response: {
    200: { description: 'The file.', content: { 'text/csv': { schema: Type.String() } } },
    ...refusals([...listing, 'missing_field']),
  },
}

export const beginInvoice = {
  ...inInvoices,
  operationId: 'beginInvoice',
  summary: 'Read the options of a new draft',
  description: 'The taxes and, for a payer, the buyer and the unbilled months. For partners.',
  querystring: schema.draftOptionsQuery,
  response: { 200: answers(schema.draftOptions, 'The options.'), ...refusals(listing) },
}

export const reportInvoices = {
  ...inInvoices,
  operationId: 'reportInvoices',
  summary: 'Read the receivables report',
  description: 'Open amounts by payer and age, and the revenue of the last 24 months. For partners.',
  response: { 200: answers(schema.invoiceReport, 'The report.'), ...refusals(listing) },
}

export const exportReport = {
  ...inInvoices,
  operationId: 'exportInvoiceReport',
  summary: 'Export the receivables report',
  description: 'One table of the report as a CSV file, with all payers. For partners.',
  querystring: schema.reportQuery,
  response: {
    200: { description: 'The file.', content: { 'text/csv': { schema: Type.String() } } },
    ...refusals([...listing, 'missing_field']),
  },
}

export const createInvoice = {
  ...inInvoices,
  ...idempotent,
  operationId: 'createInvoice',
  summary: 'Create a draft',
  description:
    'For a client with typed lines, or for an account with its usage in a month. A month is billed on one invoice only, unless that invoice is void or credited in full. For partners.',
  body: schema.newInvoiceBody,
  response: { 201: created, ...refusals([...acting, ...sending]) },
}

export const readInvoice = {
  ...inInvoices,
  operationId: 'readInvoice',
  summary: 'Read an invoice',
  description: 'With its lines, taxes and payments. For partners.',
  params,
  response: { 200: invoice('The invoice.'), ...refusals(reading) },
}

const files = {
  pdf: {
    operationId: 'readInvoicePdf',
    summary: 'Read an invoice as PDF',
    description:
      'PDF/A-3 with the letterhead, and with `factur-x.xml` embedded as Factur-X and ZUGFeRD require if the invoice has an XML file. The file of an issued invoice never changes. A draft is marked as one. A PDF with characters that its fonts lack is refused with `conflict`. For partners.',
  },
  xml: {
    operationId: 'readInvoiceXml',
    summary: 'Read an invoice as XML',
    description:
      'Cross Industry Invoice with the content of EN 16931. A draft, and an invoice that lacks what the standard requires, is refused with `conflict` and the reason. For partners.',
  },
} as const

/** The operation that returns an invoice as a file. */
export function invoiceFile(format: keyof typeof files) {
  return {
    ...inInvoices,
    ...files[format],
    params,
    response: refusals([...reading, 'conflict', ...(format === 'pdf' ? (['overloaded'] as const) : [])]),
  }
}

export const changeInvoice = {
  ...inInvoices,
  documentedHeaders: ifMatch,
  operationId: 'changeInvoice',
  summary: 'Change a draft',
  description: 'Fields missing from the body keep their values. Lines for usage always remain. For partners.',
  params,
  body: schema.invoiceChange,
  response: { 200: invoice('The draft.'), ...refusals([...acting, ...sending, ...based]) },
}

export const issueInvoice = {
  ...inInvoices,
  documentedHeaders: ifMatch,
  operationId: 'issueInvoice',
  summary: 'Issue an invoice',
  description:
    'Gives the draft the next number of its series, without gaps, and freezes it. To correct it, write a credit note. For partners.',
  params,
  response: { 200: invoice('The invoice.'), ...refusals([...acting, ...based]) },
}

export const voidInvoice = {
  ...inInvoices,
  documentedHeaders: ifMatch,
  operationId: 'voidInvoice',
  summary: 'Void a draft',
  description: 'It remains readable and gets no number. What it bills can be billed again. For partners.',
  params,
  response: { 200: invoice('The void draft.'), ...refusals([...acting, ...based]) },
}

export const payInvoice = {
  ...inInvoices,
  ...idempotent,
  operationId: 'payInvoice',
  summary: 'Record a payment',
  description:
    'At most what is open. A payment recorded by mistake is reversed with `reverses`, not removed. For partners.',
  params,
  body: schema.paymentBody,
  response: { 201: invoice('The invoice with its payments.'), ...refusals([...acting, ...sending]) },
}

export const creditInvoice = {
  ...inInvoices,
  ...idempotent,
  operationId: 'creditInvoice',
  summary: 'Create a credit note',
  description:
    'A draft with the lines of the invoice, or some of them. It takes effect when it is issued. The credit notes of an invoice never exceed its amount. For partners.',
  params,
  body: schema.creditNoteBody,
  response: { 201: created, ...refusals([...acting, ...sending]) },
}

export const proposeInvoiceMail = {
  ...inInvoices,
  operationId: 'proposeInvoiceMail',
  summary: 'Preview a mail',
  description: 'The default address, subject and text for an invoice or a reminder. For partners.',
  params,
  querystring: invoiceMailQuery,
  response: {
    200: answers(proposedMail, 'The mail.'),
    ...refusals([...reading, 'conflict', 'invalid_field', 'unknown_field']),
  },
}

export const sendInvoice = {
  ...inInvoices,
  ...idempotent,
  operationId: 'sendInvoice',
  summary: 'Send an invoice by mail',
  description:
    'With the PDF attached. The mail is queued, retried for five days, and kept as it was sent. A draft cannot be sent. For partners.',
  params,
  body: invoiceMailBody,
  response: { 201: invoice('The invoice with its mails.'), ...refusals([...acting, ...sending]) },
}

export const readSentInvoice = {
  ...inInvoices,
  operationId: 'readSentInvoice',
  summary: 'Read the PDF of a mail',
  description: 'The file that was attached, byte for byte as it was sent. Its SHA-256 is `file_digest`. For partners.',
  params: Type.Object({ invoice: text('The id of the invoice.'), mail: text('The id of the mail.') }),
  response: refusals(reading),
}

export const remindInvoice = {
  ...sendInvoice,
  operationId: 'remindInvoice',
  summary: 'Send a reminder by mail',
  description:
    'For an overdue invoice, with the PDF attached. It is not sent if the invoice is paid or credited before it is queued. For partners.',
}

export const listUnbilled = {
  ...inInvoices,
  operationId: 'listUnbilled',
  summary: 'List unbilled work',
  description:
    'Everything not yet on an invoice, by client and account, 50 at a time: time entries, expenses, and the past months (UTC) of letters and of ' +
    'accounts that are not the firm’s own. For partners.',
  querystring: unbilledQuery,
  response: { 200: answers(unbilledList, 'One page.'), ...refusals(listing) },
}

export const exportUnbilled = {
  ...inInvoices,
  operationId: 'exportUnbilled',
  summary: 'Export unbilled work',
  description: 'The same as a CSV file with a row for each client and account. For partners.',
  querystring: unbilledFileQuery,
  response: {
    200: { description: 'The file.', content: { 'text/csv': { schema: Type.String() } } },
    ...refusals(listing),
  },
}
