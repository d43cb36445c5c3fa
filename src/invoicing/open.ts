import type { Logger } from 'pino'
import type { RecordAccess } from '../access/access.ts'
import type { WritingThread } from '../documents/writing-thread.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Feature } from '../platform/feature.ts'
import { createInvoiceFiles, type InvoiceFiles } from './files/files.ts'
import { registerInvoiceFiles } from './files/routes.ts'
import { createInvoices, type Invoices } from './invoices.ts'
import { createInvoiceMails, type InvoiceMails } from './mail/mails.ts'
import { registerInvoiceMails } from './mail/routes.ts'
import { startInvoiceMail } from './mail/sending.ts'
import { invoiceExamples, registerInvoices, type InvoiceRouteNeeds } from './routes.ts'
import { startMonthlyRun } from './run/job.ts'
import { invoiceSettings } from './settings.ts'

interface InvoicingNeeds extends Omit<InvoiceRouteNeeds, 'invoices'> {
  readonly config: Pick<Config, 'currency' | 'firm' | 'invoicing'>
  readonly database: Database
  readonly databaseUrl: string
  readonly access: RecordAccess
  readonly mailer: Mailer | undefined
  readonly thread: WritingThread
  readonly timeZone: string
  readonly log: Logger
}

export interface InvoicingFeature extends Feature {
  readonly invoices: Invoices
  readonly invoiceFiles: InvoiceFiles
  readonly invoiceMails: InvoiceMails
  close(this: void): Promise<void>
}

/** Opens invoices, their files and mails, the monthly run, and reminders. */
export function openInvoicing(needs: InvoicingNeeds): InvoicingFeature {
  const { config, mailer, thread } = needs
  const parts = { ...needs, settings: invoiceSettings(config) }
  const run = startMonthlyRun({
    ...parts,
    run: config.invoicing,
    unprintable: (texts) => thread.missingIn({ texts }),
  })
  const invoices = createInvoices({
    ...parts,
    unprintable: (invoice) => thread.missingIn({ format: 'pdf', invoice }),
  })
  const invoiceFiles = createInvoiceFiles(parts)
  const invoiceMails = createInvoiceMails({
    ...parts,
    hasMail: mailer !== undefined,
    pdf: (document) => invoiceFiles.pdf(document),
  })
  const sending = startInvoiceMail({ ...parts, reminders: config.invoicing.reminders, mails: invoiceMails })
  return Object.freeze({
    invoices,
    invoiceFiles,
    invoiceMails,
    routes(server) {
      registerInvoices(server, { ...needs, invoices })
      registerInvoiceFiles(server, { ...needs, invoiceFiles })
      registerInvoiceMails(server, { ...needs, invoiceMails })
    },
    examples: invoiceExamples,
    async close() {
      await sending.close()
      await run.close()
    },
  } satisfies InvoicingFeature)
}
