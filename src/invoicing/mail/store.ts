import type { Visit } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { WaitingMail } from '../../mail/queuing.ts'
import type { MailState } from '../../mail/sent-mails.ts'
import type { InvoiceMailKind } from './schema.ts'

/** A mail about an invoice, as it was sent. */
export interface InvoiceMailRow {
  readonly id: string
  readonly kind: InvoiceMailKind
  readonly state: MailState
  readonly recipient: string
  readonly copy_to: string | null
  readonly subject: string
  readonly message: string
  /** In hexadecimal. */
  readonly digest: string
  readonly at: Date
  readonly by: string | null
  readonly by_name: string | null
}

/** The mails about an invoice, in order. */
export function readInvoiceMails(id: string): PreparedStatement<InvoiceMailRow> {
  return {
    name: 'invoice mails',
    text: `select m.id, m.kind, e.state, m.recipient, m.copy_to, m.subject, m.message, encode(m.digest, 'hex') as digest, m.at,
        m.by, p.name as by_name
      from invoice_mail m join invoice_mail_end e on e.mail_id = m.id left join person p on p.id = m.by
      where m.invoice_id = $1 order by m.number`,
    values: [id],
  }
}

/** The file of a mail about an invoice, even of one that was not delivered. The content is in Base64. */
export function readSentFile(
  invoiceId: string,
  mailId: string,
): PreparedStatement<{ readonly number: string; readonly content: string }> {
  return {
    name: 'sent invoice file',
    text: `select i.number, encode(f.content, 'base64') as content
      from invoice_mail m join invoice i on i.id = m.invoice_id join invoice_file f on f.invoice_id = i.id and f.digest = m.digest
      where m.invoice_id = $1 and m.id = $2`,
    values: [invoiceId, mailId],
  }
}

/** The address that mails about an invoice go to: the last one used, or that of the client or the account. */
export function readPayerAddress(id: string): PreparedStatement<{ readonly address: string | null }> {
  return {
    name: 'invoice payer address',
    text: `select coalesce((select m.recipient from invoice_mail m where m.invoice_id = i.id order by m.number desc limit 1),
        c.email, a.billing_email) as address
      from invoice i left join client c on c.id = i.client_id left join account a on a.id = i.account_id where i.id = $1`,
    values: [id],
  }
}

export interface NewInvoiceMail {
  readonly id: string
  readonly kind: InvoiceMailKind
  /** The days after the due date, for an automatic reminder. */
  readonly reminderDays: number | null
  readonly to: string
  readonly cc: string | null
  readonly subject: string
  readonly message: string
  readonly fileName: string
  /** Null if the file was kept before. */
  readonly file: Uint8Array | null
  /** `YYYY-MM-DD`. */
  readonly today: string
}

/** See send_invoice(). */
export type InvoiceMailOutcome = 'sent' | 'exists' | 'unknown' | 'not_issued' | 'not_overdue' | 'disputed'

export function insertInvoiceMail(
  { requestId, address }: Visit,
  invoiceId: string,
  mail: NewInvoiceMail,
): PreparedStatement<{ readonly outcome: InvoiceMailOutcome }> {
  const { id, kind, reminderDays: reminder_days, to: recipient, cc: copy_to, subject, message } = mail
  const file = mail.file === null ? null : Buffer.from(mail.file).toString('base64')
  return {
    name: 'send invoice',
    text: `select send_invoice($1, $2, $3, decode($4, 'base64'), $5, $6, $7) as outcome`,
    values: [
      invoiceId,
      JSON.stringify({ id, kind, reminder_days, recipient, copy_to, subject, message }),
      mail.fileName,
      file,
      mail.today,
      requestId,
      address,
    ],
  }
}

/** An overdue invoice with an automatic reminder due. */
export interface DueReminder {
  readonly id: string
  /** The days after the due date. */
  readonly days: number
}

/** Whether a reminder of the invoice `i` may be sent on a day. */
const canRemind = (day: string) => `(is_overdue(i, ${day}) and not is_disputed(i))`

/**
 * The overdue invoices without an open dispute whose payer has an address and has not had the last reminder that is due. Of several
 * that are due at once, only the last one is sent, and none if a person has sent one since it was due.
 */
export function readDueReminders(today: string, days: readonly number[]): PreparedStatement<DueReminder> {
  return {
    name: 'due reminders',
    text: `select i.id, d.days::integer as days from invoice i
        left join client c on c.id = i.client_id left join account a on a.id = i.account_id
        cross join lateral (select max(value::integer) as days from jsonb_array_elements_text($2::jsonb)
          where i.due_on + value::integer <= $1::date) d
      where d.days is not null and i.state = 'issued' and i.due_on < $1::date
        and not exists (select from invoice_mail m where m.invoice_id = i.id
          and (m.reminder_days >= d.days or m.kind = 'reminder' and m.at >= i.due_on + d.days::integer))
        and (c.email is not null or a.billing_email is not null or exists (select from invoice_mail m where m.invoice_id = i.id))
        and ${canRemind('$1::date')}
      order by i.due_on, i.id limit 200`,
    values: [today, JSON.stringify(days)],
  }
}

/**
 * Takes mails that wait, within a transaction. No other instance gets them in the meantime, and their invoices are locked. A reminder of an
 * invoice that was paid, credited or disputed since is not due.
 */
export async function takeWaitingMails(tx: Queryable, today: string, most: number): Promise<WaitingMail[]> {
  const taken = await tx.rows<{ id: string; invoice: string }>(
    `select m.id, m.invoice_id as invoice from invoice_mail_end e join invoice_mail m on m.id = e.mail_id
     where e.state = 'waiting' order by m.number limit $1 for update of e skip locked`,
    [most],
  )
  await tx.rows('select from invoice where id = any($1::uuid[]) order by id for no key update', [
    taken.map(({ invoice }) => invoice),
  ])
  return tx.rows(
    `select m.id, m.recipient as to, m.copy_to as cc, m.subject, m.message,
       m.kind <> 'reminder' or ${canRemind('$2::date')} as "isDue"
     from invoice_mail m join invoice i on i.id = m.invoice_id where m.id = any($1::uuid[]) order by m.number`,
    [taken.map(({ id }) => id), today],
  )
}

export async function endInvoiceMail(database: Queryable, mailId: string, state: MailState): Promise<void> {
  await database.rows(
    `update invoice_mail_end set state = $2, at = record_time() where mail_id = $1 and state in ('waiting', 'queued')`,
    [mailId, state],
  )
}

/** The file of a mail; undefined if it is a reminder of an invoice that was paid, credited or disputed since. */
export async function readMailFile(
  database: Queryable,
  mailId: string,
  today: string,
): Promise<{ readonly name: string; readonly content: Buffer } | undefined> {
  const [row] = await database.rows<{ name: string; content: Buffer }>(
    `select f.name, f.content from invoice_mail m join invoice i on i.id = m.invoice_id
       join invoice_file f on f.invoice_id = i.id
     where m.id = $1 and (m.kind <> 'reminder' or ${canRemind('$2::date')})`,
    [mailId, today],
  )
  return row
}
