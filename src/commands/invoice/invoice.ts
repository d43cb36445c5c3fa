import { writeFile } from 'node:fs/promises'
import { Option, type Command } from 'commander'
import { nameOf } from '../../documents/file-name.ts'
import type { ExportQuery, InvoiceQuery, ListedInvoice, PaymentBody, ShownInvoice } from '../../invoicing/schema.ts'
import { plainCsv } from '../../platform/text/csv.ts'
import { OperatorError } from '../../platform/problems.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { amountArgument, moneyIn } from '../output/amounts.ts'
import { argument, command, group, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { everyInvoice, invoiceId, whichInvoice, withInvoiceFiles, withInvoices } from './context.ts'
import { remindInvoiceCommand, sendInvoiceCommand } from './mail.ts'
import { invoiceRunCommand } from './run.ts'
import { operator } from '../operator.ts'
import { writeJson, writeLines, writeTable } from '../output/output.ts'
import { parseDay } from '../output/times.ts'

interface ListOptions extends CommonOptions {
  readonly status?: NonNullable<InvoiceQuery['status']>
}
interface PdfOptions extends CommonOptions {
  readonly out?: string
}
interface PayOptions extends CommonOptions {
  readonly date: string
  readonly reference?: string
  readonly method?: NonNullable<PaymentBody['method']>
}

export function invoiceCommand(context: Context): Command {
  return group('invoice', 'Manage invoices', [
    listCommand(context),
    showCommand(context),
    issueCommand(context),
    payCommand(context),
    creditCommand(context),
    pdfCommand(context),
    sendInvoiceCommand(context),
    remindInvoiceCommand(context),
    invoiceRunCommand(context),
    exportCommand(context),
  ])
}

function listCommand(context: Context): Command {
  const status = new Option('--status <status>', 'only those with this status').choices([
    'draft',
    'open',
    'partly_paid',
    'overdue',
    'paid',
    'credited',
    'issued',
    'void',
  ])
  return command('list', 'List invoices and credit notes, the newest first', 'invoice list --status overdue')
    .addOption(status)
    .action(async ({ json, status: wanted }: ListOptions) =>
      withInvoices(context, async (invoices) => {
        const found = await everyInvoice(invoices, { ...(wanted && { status: wanted }) })
        if (json) return writeJson(context, { invoices: found })
        const { amount } = await formatFor(context)
        return writeTable(
          context,
          found,
          [
            { title: 'NUMBER', text: ({ number }) => number ?? '-' },
            { title: 'STATUS', text: (invoice) => invoice.status },
            { title: 'PAYER', text: ({ payer }) => payer.name },
            { title: 'DATE', text: (invoice) => invoice.issued_on ?? '-' },
            { title: 'DUE', text: (invoice) => (isPayable(invoice) ? invoice.due_on : null) ?? '-' },
            { title: 'AMOUNT', text: ({ gross, currency }) => `${amount(gross)} ${currency}`, right: true },
            {
              title: 'OPEN',
              text: (invoice) => (isPayable(invoice) ? `${amount(invoice.open)} ${invoice.currency}` : '-'),
              right: true,
            },
            { title: 'ID', text: ({ id }) => id },
          ],
          'No invoices match.',
        )
      }),
    )
}

function showCommand(context: Context): Command {
  return command('show', 'Show one invoice', 'invoice show INV-2030-0001')
    .argument(...whichInvoice)
    .action(async (invoice: string, { json }: CommonOptions) =>
      withInvoices(context, async (invoices) =>
        writeInvoice(context, await invoices.read(operator(), await invoiceId(invoices, invoice)), json),
      ),
    )
}

function issueCommand(context: Context): Command {
  return command('issue', 'Issue a draft: it gets its number and is frozen', 'invoice issue <id>')
    .argument('<id>', 'its id')
    .action(async (draft: string, { json }: CommonOptions) =>
      withInvoices(context, async (invoices) =>
        writeInvoice(context, await invoices.issue(operator(), await invoiceId(invoices, draft), null), json),
      ),
    )
}

function payCommand(context: Context): Command {
  return command('pay', 'Record a payment', 'invoice pay INV-2030-0001 119.00 --date 2030-02-01')
    .argument(...whichInvoice)
    .argument('<amount>', 'at most the open amount; negative if an overpayment was returned', amountArgument)
    .requiredOption('--date <day>', 'the day of the payment, from the day of issue to today', argument(parseDay))
    .option('--reference <text>', 'the text of the transfer')
    .addOption(
      new Option('--method <method>', 'how it was paid').choices(['transfer', 'card', 'cash', 'direct_debit', 'other']),
    )
    .action(async (invoice: string, typed: string, { json, ...payment }: PayOptions) => {
      const amount = await moneyIn(context, '<amount>', typed)
      const { formatMoney } = await import('../../billing/prices/money.ts')
      return withInvoices(context, async (invoices) => {
        const id = await invoiceId(invoices, invoice)
        const body = { ...payment, amount: formatMoney(amount) }
        return writeInvoice(context, await invoices.pay(operator(), id, body), json)
      })
    })
}

function creditCommand(context: Context): Command {
  return command('credit', 'Draft a credit note for a whole invoice', 'invoice credit INV-2030-0001')
    .argument(...whichInvoice)
    .action(async (invoice: string, { json }: CommonOptions) =>
      withInvoices(context, async (invoices) => {
        const draft = await invoices.credit(operator(), await invoiceId(invoices, invoice), {})
        await writeInvoice(context, draft, json)
        if (!json) writeLines(context, '', `It takes effect once it is issued: ./tollgate invoice issue ${draft.id}`)
      }),
    )
}

function pdfCommand(context: Context): Command {
  return command(
    'pdf',
    'Write an invoice as PDF, with its XML (EN 16931) embedded',
    'invoice pdf INV-2030-0001 --out invoice.pdf',
  )
    .argument(...whichInvoice)
    .option('--out <file>', 'where to write it; default: its number, in the current folder')
    .action(async (invoice: string, { out, json }: PdfOptions) =>
      withInvoiceFiles(context, async ({ invoices, files }) => {
        const { id, number } = await invoices.read(operator(), await invoiceId(invoices, invoice))
        const { bytes } = await files.write(operator(), id, 'pdf')
        const file = out ?? `${nameOf(number ?? id)}.pdf`
        await writeFile(file, bytes).catch((error: unknown) => {
          throw new OperatorError(
            `The file ${quoted(file)} could not be written: ${error instanceof Error ? error.message : String(error)}.`,
          )
        })
        if (json) writeJson(context, { id, number, file })
        else writeLines(context, `Wrote ${file}.`)
      }),
    )
}

function exportCommand(context: Context): Command {
  return command(
    'export',
    'Export issued invoices and credit notes as CSV, with a row per document and tax',
    'invoice export --from 2030-01-01 --to 2030-01-31 > january.csv',
  )
    .requiredOption('--from <day>', 'the first day of issue', argument(parseDay))
    .requiredOption('--to <day>', 'the last day of issue', argument(parseDay))
    .action(async ({ json, from, to }: ExportQuery & CommonOptions, self: Command) => {
      if (from > to) self.error('error: --from must not be after --to')
      const { bookedFile, bookedValues } = await import('../../invoicing/invoices.ts')
      await withInvoices(context, async (invoices) => {
        const booked = await invoices.export(operator(), { from, to })
        if (json) writeJson(context, { rows: bookedValues(booked) })
        else context.stdout.write(bookedFile(booked, plainCsv))
      })
    })
}

/** A draft and a credit note have nothing open. */
const isPayable = ({ kind, number }: Pick<ListedInvoice, 'kind' | 'number'>) => kind === 'invoice' && number !== null

async function writeInvoice(context: Context, invoice: ShownInvoice, json: true | undefined): Promise<void> {
  if (json) return writeJson(context, invoice)
  const format = await formatFor(context)
  const money = (amount: string) => `${format.amount(amount)} ${invoice.currency}`
  const lines = [
    [invoice.kind === 'invoice' ? 'Invoice' : 'Credit note', invoice.number ?? 'a draft'],
    ['Id', invoice.id],
    ['Status', invoice.status],
    ['Payer', invoice.payer.name],
    ...(invoice.credits ? [['Corrects', invoice.credits.number ?? invoice.credits.id]] : []),
    ...(invoice.issued_on === null ? [] : [['Issued', invoice.issued_on]]),
    ...(isPayable(invoice) ? [['Due', invoice.due_on ?? '-']] : []),
    ['Net', money(invoice.net)],
    ...(/[1-9]/.test(invoice.rounding) ? [['Rounding', `${money(invoice.rounding)}, in the net amount`]] : []),
    ['Tax', money(invoice.tax)],
    ['Amount', money(invoice.gross)],
    ...(isPayable(invoice)
      ? [
          ['Paid', money(invoice.paid)],
          ['Credited', money(invoice.credited)],
          ['Open', money(invoice.open)],
        ]
      : []),
  ] as const
  writeLines(context, ...lines.map(([title = '', text = '']) => `${title.padEnd(11)} ${text}`), '')
  writeTable(
    context,
    invoice.lines,
    [
      { title: 'LINE', text: ({ text }) => text },
      { title: 'QUANTITY', text: ({ quantity }) => format.decimal(quantity), right: true },
      { title: 'UNIT', text: ({ unit }) => unit },
      { title: 'PRICE', text: (line) => format.amount(line.unit_price), right: true },
      { title: 'NET', text: ({ net }) => format.amount(net), right: true },
      { title: 'TAX', text: ({ tax }) => `${tax.category} ${tax.rate} %`, right: true },
    ],
    'No lines.',
  )
}
