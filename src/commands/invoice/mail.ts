import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { InvoiceMailKind, ProposedMail } from '../../invoicing/mail/mails.ts'
import { readEmail } from '../../people/email.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { OperatorError } from '../../platform/problems.ts'
import { argument, command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { invoiceId, whichInvoice, withInvoiceFiles } from './context.ts'
import { operator } from '../operator.ts'
import { writeJson, writeLines } from '../output/output.ts'

interface MailOptions extends CommonOptions {
  readonly to?: string
  readonly cc?: string
  readonly subject?: string
  readonly messageFile?: string
  readonly dryRun?: true
}

/** `invoice send`. */
export function sendInvoiceCommand(context: Context): Command {
  return mailCommand(context, 'invoice', [
    'send',
    'Send an issued invoice or a credit note by mail, as a PDF',
    'invoice send INV-2030-0001 --to accounts@acme.example',
  ])
}

/** `invoice remind`. */
export function remindInvoiceCommand(context: Context): Command {
  return mailCommand(context, 'reminder', [
    'remind',
    'Send a reminder of an overdue invoice by mail, with the PDF',
    'invoice remind INV-2030-0001 --dry-run',
  ])
}

function mailCommand(
  context: Context,
  kind: InvoiceMailKind,
  words: readonly [name: string, description: string, example: string],
): Command {
  return command(...words)
    .argument(...whichInvoice)
    .option(
      '--to <address>',
      'default: the address of the last mail, of the client or of the account',
      argument(parseAddress),
    )
    .option('--cc <address>', 'an address that gets a copy', argument(parseAddress))
    .option('--subject <text>', 'default: a standard subject')
    .option('--message-file <file>', 'a text file with the message; default: a standard text')
    .option('--dry-run', 'only show what would be sent')
    .action(async (invoice: string, { json, dryRun, messageFile, ...addressed }: MailOptions) => {
      const message = messageFile === undefined ? undefined : await readMessage(messageFile)
      const { compileBody } = await import('../../platform/http/input/validation.ts')
      const { invoiceMailBody } = await import('../../invoicing/mail/mails.ts')
      const body = compileBody(invoiceMailBody)({ ...addressed, ...(message !== undefined && { message }) })
      await withInvoiceFiles(context, async ({ invoices, mails }) => {
        const id = await invoiceId(invoices, invoice)
        if (dryRun) {
          const mail = { ...(await mails.propose(operator(), id, kind)), cc: null, ...body }
          return json ? writeJson(context, mail) : writeMail(context, mail)
        }
        const sent = (await mails.send(operator(), id, { kind, body })).sent.at(-1)
        if (json) return writeJson(context, sent)
        writeLines(context, `Queued a mail to ${sent?.to ?? ''}: ${sent?.subject ?? ''}`)
      })
    })
}

/** Throws a RangeError. */
function parseAddress(text: string): string {
  const address = readEmail(text)?.address
  if (address === undefined) throw new RangeError('must be an email address such as name@example.com')
  return address
}

async function readMessage(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`The file ${quoted(file)} could not be read: ${reason}.`)
  }
}

function writeMail(
  context: Context,
  { to, cc, subject, message, file }: ProposedMail & { readonly cc: string | null },
) {
  const copy = cc === null ? [] : [`Cc:       ${cc}`]
  const lines = [`To:       ${to ?? 'no address is known: give one with --to'}`, ...copy, `Subject:  ${subject}`]
  writeLines(context, ...lines, `Attached: ${file}`, '', message)
}
