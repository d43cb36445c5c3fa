import type { InvoicePaper } from '../../documents/invoice-paper.ts'
import type { Invoices } from '../../invoicing/invoices.ts'
import type { InvoiceFiles } from '../../invoicing/files/files.ts'
import type { InvoiceMails } from '../../invoicing/mail/mails.ts'
import type { InvoiceQuery, ListedInvoice } from '../../invoicing/schema.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { OperatorError } from '../../platform/problems.ts'
import type { Context } from '../context.ts'
import { operator, withAccess } from '../operator.ts'

/** The argument of commands for one invoice. */
export const whichInvoice = ['<invoice>', 'its number or id'] as const

export function withInvoices<T>(context: Context, work: (invoices: Invoices) => Promise<T>): Promise<T> {
  return withInvoiceFiles(context, ({ invoices }) => work(invoices))
}

interface InvoiceParts {
  readonly invoices: Invoices
  readonly files: InvoiceFiles
  readonly mails: InvoiceMails
}

/** Runs a command. The first file starts the thread that writes them. */
export async function withInvoiceFiles<T>(context: Context, work: (parts: InvoiceParts) => Promise<T>): Promise<T> {
  const { createInvoices } = await import('../../invoicing/invoices.ts')
  const { createInvoiceFiles } = await import('../../invoicing/files/files.ts')
  const { createInvoiceMails } = await import('../../invoicing/mail/mails.ts')
  const { createWritingThread } = await import('../../documents/writing-thread.ts')
  const { settings, hasMail } = await readSettings(context)
  await using opened = new AsyncDisposableStack()
  const thread = opened.adopt(createWritingThread(), (it) => it.close())
  return await withAccess(context, ({ access, database }) => {
    const files = createInvoiceFiles({ access, settings, thread })
    const mails = createInvoiceMails({
      access,
      settings,
      locale: settings.locale,
      hasMail,
      pdf: (document) => files.pdf(document),
    })
    const unprintable = (invoice: InvoicePaper) => thread.missingIn({ format: 'pdf', invoice })
    return work({ invoices: createInvoices({ access, database, settings, unprintable }), files, mails })
  })
}

/** How this installation invoices, and whether it has a mail server. Throws OperatorError if there are amounts in another currency. */
export async function readSettings(context: Context) {
  const { invoiceSettings } = await import('../../invoicing/settings.ts')
  const { isDemo } = await import('../../platform/config/config.ts')
  const { withDemoFirm } = await import('../../demo/demo.ts')
  const { confirmCurrency } = await import('../../billing/currency/currency.ts')
  const config = await context.config()
  await confirmCurrency(await context.database(), config.currency)
  return { settings: invoiceSettings(withDemoFirm(config)), hasMail: config.mail !== undefined || isDemo(config) }
}

export async function everyInvoice(invoices: Invoices, query: InvoiceQuery): Promise<ListedInvoice[]> {
  const found: ListedInvoice[] = []
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await invoices.list(operator(), { ...query, ...(cursor !== undefined && { cursor }) })
    found.push(...page.invoices)
    cursor = page.next
  }
  return found
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The id of the invoice with a number or an id. Throws OperatorError. */
export async function invoiceId(invoices: Invoices, text: string): Promise<string> {
  if (uuid.test(text)) return text
  const found = await everyInvoice(invoices, { number: text })
  const first = found.find(({ number }) => number === text)
  if (first === undefined) throw new OperatorError(`No invoice has the number or id ${quoted(text)}.`)
  return first.id
}
