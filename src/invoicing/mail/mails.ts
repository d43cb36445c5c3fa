import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import { byService, type Visit } from '../../access/actor.ts'
import { newId } from '../../access/new-id.ts'
import { payerWords, type BilledPayer, type PayerWords } from '../../mail/payer-words.ts'
import { noMailServer, otherMail } from '../../mail/sent-mails.ts'
import { readEmail } from '../../people/email.ts'
import { today } from '../../platform/text/calendar.ts'
import { localeIn } from '../../platform/text/languages.ts'
import { Problem } from '../../platform/problems.ts'
import type { InvoiceDocument } from '../document.ts'
import { fileHeaders, type InvoiceFile } from '../files/files.ts'
import * as store from './store.ts'
import type { InvoiceMailBody, InvoiceMailKind, ProposedMail } from './schema.ts'
import { invoiceNumbers } from '../files/numbers.ts'
import { openOf, presentInvoice } from '../present.ts'
import type { ShownInvoice } from '../schema.ts'
import type { InvoiceSettings } from '../settings.ts'
import { createStoredInvoices, type StoredInvoice } from '../stored.ts'

export { invoiceMailBody } from './schema.ts'
export type { InvoiceMailKind, ProposedMail } from './schema.ts'

/**
 * Mails to payers, with the invoice as PDF. They are kept as they were sent. Methods throw Problem `not_found`, and `conflict`
 * for a draft, a void draft, a reminder of an invoice that is not overdue or is disputed, and if no mail is configured.
 */
export interface InvoiceMails {
  /** What `send` sends unless it is given other words. */
  propose(visit: Visit, id: string, kind: InvoiceMailKind): Promise<ProposedMail>
  /** Keeps a mail, which is then sent. Idempotent per person and `key`. Throws Problem `invalid_field` for an address. */
  send(
    visit: Visit,
    id: string,
    mail: { readonly kind: InvoiceMailKind; readonly body: InvoiceMailBody },
    key?: string,
  ): Promise<ShownInvoice>
  /** The PDF of a mail, as it was sent. Throws Problem `not_found`. */
  file(visit: Visit, id: string, mailId: string): Promise<InvoiceFile>
  /** Sends the automatic reminder that is due a number of days after the due date, unless it or a later one was sent. */
  remind(this: void, reminder: store.DueReminder): Promise<void>
}

interface InvoiceMailNeeds {
  readonly access: RecordAccess
  readonly settings: InvoiceSettings
  readonly locale: string
  readonly hasMail: boolean
  /** The PDF of an issued invoice. Throws Problem `conflict`. */
  readonly pdf: (document: InvoiceDocument) => Promise<Uint8Array>
}

interface NewMail {
  readonly id: string
  readonly kind: InvoiceMailKind
  readonly reminderDays: number | null
  readonly body: InvoiceMailBody
}

export function createInvoiceMails({ access, settings, locale, hasMail, pdf }: InvoiceMailNeeds): InvoiceMails {
  const stored = createStoredInvoices({ access, settings })

  async function propose(visit: Visit, id: string, kind: InvoiceMailKind): Promise<ProposedMail> {
    const audited: AuditedAction = { action: 'invoice_read', noun: 'invoice', nounId: id }
    const before = await stored.find(visit, id, audited)
    const obstacle = hasMail ? obstacleTo(kind, before) : noMailServer()
    if (obstacle) return access.decline(visit, audited, obstacle)
    const [[payer]] = await access.as(visit, [store.readPayerAddress(id)])
    await access.note(visit, audited)
    return { kind, to: payer?.address ?? null, ...wordsOf(kind, before, locale), file: fileName(before) }
  }

  async function send(visit: Visit, id: string, mail: NewMail): Promise<StoredInvoice> {
    const audited = auditedOf(mail.kind, id)
    const before = await stored.find(visit, id, audited)
    const kept = before.mails.find((each) => each.id === mail.id)
    if (kept !== undefined) return isSame(kept, mail) ? before : access.decline(visit, audited, otherMail())
    const obstacle = hasMail ? obstacleTo(mail.kind, before) : noMailServer()
    if (obstacle) return access.decline(visit, audited, obstacle)
    const outcome = await keep(visit, before, mail)
    const after = await stored.find(visit, id, audited)
    return outcome === 'sent' || outcome === 'exists' ? after : access.decline(visit, audited, refusalOf(outcome))
  }

  async function keep(visit: Visit, before: StoredInvoice, { id, kind, reminderDays, body }: NewMail) {
    const { id: invoiceId } = before.row
    const audited = auditedOf(kind, invoiceId)
    const [[payer]] = await access.as(visit, [store.readPayerAddress(invoiceId)])
    const to = addressIn(body.to ?? payer?.address ?? '', 'to')
    const cc = body.cc === undefined ? null : addressIn(body.cc, 'cc')
    const file = before.mails.length > 0 ? null : await pdfOf(visit, audited, before.document)
    const words = { ...wordsOf(kind, before, locale), ...definedOf(body) }
    const mail = { id, kind, reminderDays, to, cc, ...words, fileName: fileName(before), file }
    const insert = store.insertInvoiceMail(visit, invoiceId, { ...mail, today: today(settings.timeZone) })
    const [[row]] = await access.as(visit, [insert])
    return row?.outcome
  }

  async function sentFile(visit: Visit, id: string, mailId: string): Promise<InvoiceFile> {
    const details = { format: 'pdf', mail: mailId }
    const audited: AuditedAction = { action: 'invoice_exported', noun: 'invoice', nounId: id, details }
    const [[sent]] = await access.as(visit, [store.readSentFile(id, mailId)])
    if (sent === undefined) throw noSuchMail()
    await access.note(visit, audited)
    return { bytes: Buffer.from(sent.content, 'base64'), headers: fileHeaders(sent.number, 'pdf') }
  }

  const pdfOf = (visit: Visit, audited: AuditedAction, document: InvoiceDocument) =>
    pdf(document).catch((error: unknown) => {
      if (error instanceof Problem) return access.decline(visit, audited, error)
      throw error
    })

  return Object.freeze({
    propose,
    file: sentFile,
    async send(visit: Visit, id: string, { kind, body }, key?: string) {
      const mailId = newId(visit, `/invoices/${id}/${kind === 'invoice' ? 'send' : 'remind'}`, key)
      return presentInvoice(await send(visit, id, { id: mailId, kind, reminderDays: null, body }))
    },
    async remind({ id, days }) {
      const mailId = newId(byService, '', undefined)
      await send(byService, id, { id: mailId, kind: 'reminder', reminderDays: days, body: {} })
    },
  } satisfies InvoiceMails)
}

const auditedOf = (kind: InvoiceMailKind, nounId: string): AuditedAction => ({
  action: kind === 'invoice' ? 'invoice_sent' : 'invoice_reminded',
  noun: 'invoice',
  nounId,
})

function obstacleTo(kind: InvoiceMailKind, { row, disputes }: StoredInvoice): Problem | undefined {
  if (row.state !== 'issued') return refusalOf('not_issued')
  if (kind === 'reminder' && row.status !== 'overdue') return refusalOf('not_overdue')
  return kind === 'reminder' && disputes.some(({ status }) => status === 'open') ? refusalOf('disputed') : undefined
}

function refusalOf(outcome: store.InvoiceMailOutcome | undefined): Problem {
  if (outcome === 'not_overdue')
    return new Problem('conflict', 'A reminder can be sent only for an overdue invoice with an open amount.')
  if (outcome === 'disputed') {
    return new Problem(
      'conflict',
      'The client disputes this invoice. Reminders wait until the dispute is settled or withdrawn.',
    )
  }
  return new Problem('conflict', 'Only an issued invoice can be sent: issue the draft first.')
}

const noSuchMail = (): Problem => new Problem('not_found', 'No mail about this invoice exists at this URL.')

/** Whether a repeated request says the same as the mail that was kept. */
function isSame(kept: store.InvoiceMailRow, { body }: NewMail): boolean {
  const { to = kept.recipient, cc = kept.copy_to, subject = kept.subject, message = kept.message } = body
  const isCopied = cc === null ? kept.copy_to === null : isAddress(cc, kept.copy_to)
  return isAddress(to, kept.recipient) && isCopied && subject === kept.subject && message === kept.message
}

const isAddress = (text: string, stored: string | null): boolean => (readEmail(text)?.address ?? text) === stored

function addressIn(text: string, field: 'to' | 'cc'): string {
  const address = readEmail(text)?.address
  if (address !== undefined) return address
  const missing = text === '' && field === 'to' ? 'The payer has no email address: give one.' : undefined
  throw new Problem('invalid_field', missing ?? `The field ${field} must be an email address: name@example.com.`, {
    field,
  })
}

function definedOf({ subject, message }: InvoiceMailBody): Partial<PayerWords> {
  return { ...(subject !== undefined && { subject }), ...(message !== undefined && { message }) }
}

/** The firm's words, in the language of the invoice. The firm is that of the invoice. */
function wordsOf(kind: InvoiceMailKind, { row, document }: StoredInvoice, ofFirm: string): PayerWords {
  const locale = localeIn(row.language, ofFirm)
  const { amount, day } = invoiceNumbers(locale, document.currency, document.decimals)
  const money = (value: bigint) => `${amount(value)}\u00a0${document.currency}`
  const dayOf = (date: string | null) => (date === null ? '' : day(date))
  const open = openOf(row)
  const billed: BilledPayer = {
    firm: document.seller?.name ?? '',
    number: document.number ?? '',
    issued: dayOf(document.issuedOn),
    due: dayOf(document.dueOn),
    gross: money(document.totals.gross),
    open: money(open),
    settled: open <= 0n ? 'all' : open < document.totals.gross ? 'part' : 'nothing',
    credits: document.creditsNumber,
  }
  return payerWords(kind, billed, locale)
}

/** `INV-2026-0017.pdf`: a number has only letters, digits and - / . _ */
const fileName = ({ document }: StoredInvoice): string => `${(document.number ?? '').replaceAll('/', '-')}.pdf`
