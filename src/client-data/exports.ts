import type { Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { AuditLog } from '../access/audit/audit-log.ts'
import type { Actor, Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import { letterDocument, type LetterSettings, type LetterToWrite } from '../clients/letters/files.ts'
import type { Contents } from '../clients/documents/contents.ts'
import type { LetterMails } from '../clients/letters/mail/mails.ts'
import type { Records } from '../clients/records.ts'
import type { RevisedNoun } from '../clients/schema.ts'
import { attachment, nameOf } from '../documents/file-name.ts'
import type { WritingThread } from '../documents/writing-thread.ts'
import type { Drafting } from '../drafting/drafting.ts'
import type { InvoiceFiles } from '../invoicing/files/files.ts'
import type { InvoiceMails } from '../invoicing/mail/mails.ts'
import type { Invoices } from '../invoicing/invoices.ts'
import { Problem } from '../platform/problems.ts'
import { exportedDocuments } from './exported-documents.ts'
import { exportedInvoices } from './exported-invoices.ts'
import { zipOf, type ZippedFile } from './zip.ts'

/** All data of a client in one file. */
export interface Exports {
  /**
   * A ZIP file and its headers. It is in the audit log before anything is sent. Throws what `RecordAccess.refuse`
   * throws. If the reader may no longer see the client before it is complete, it ends with an error.
   */
  write(visit: Visit, clientId: string): Promise<{ readonly zip: Readable; readonly headers: Record<string, string> }>
}

export interface ExportNeeds extends LetterSettings {
  readonly records: Pick<Records, 'whole'>
  readonly contents: Pick<Contents, 'exported'>
  readonly drafting: Pick<Drafting, 'exported'>
  readonly auditLog: Pick<AuditLog, 'csv'>
  readonly invoices: Pick<Invoices, 'list' | 'read'>
  readonly invoiceFiles: Pick<InvoiceFiles, 'write'>
  readonly letterMails: Pick<LetterMails, 'file'>
  readonly invoiceMails: Pick<InvoiceMails, 'file'>
  readonly thread: Pick<WritingThread, 'write'>
  readonly log: Pick<Logger, 'error'>
}

type Whole = Awaited<ReturnType<Records['whole']['read']>>

export function createExports(needs: ExportNeeds): Exports {
  const { records, letterMails, drafting, auditLog, thread } = needs
  async function* filesOf(
    visit: Visit,
    clientId: string,
    { record, letters, mails, reviews, timers }: Whole,
  ): AsyncGenerator<ZippedFile> {
    const {
      notes,
      disputes,
      letters: items,
      documents,
      tasks,
      contacts,
      time_entries: time,
      expenses,
      ...client
    } = record
    const revisions = (noun: RevisedNoun, id: string) => records.whole.revisions(visit, clientId, { noun, id })
    yield { name: 'client.json', input: objectOf(client, revisions('client', clientId)) }
    yield { name: 'notes.json', input: itemsOf(notes, (id) => revisions('note', id)) }
    yield { name: 'disputes.json', input: itemsOf(disputes, (id) => revisions('dispute', id)) }
    yield { name: 'letters.json', input: itemsOf(items, (id) => revisions('letter', id)) }
    yield { name: 'mails.json', input: JSON.stringify(mails, null, 2) }
    yield { name: 'reviews.json', input: JSON.stringify(reviews, null, 2) }
    yield { name: 'documents.json', input: itemsOf(documents, (id) => revisions('document', id)) }
    yield { name: 'tasks.json', input: itemsOf(tasks, (id) => revisions('task', id)) }
    yield { name: 'contacts.json', input: itemsOf(contacts, (id) => revisions('contact', id)) }
    yield { name: 'time.json', input: itemsOf(time, (id) => revisions('time_entry', id)) }
    yield { name: 'timers.json', input: JSON.stringify(timers, null, 2) }
    yield { name: 'expenses.json', input: itemsOf(expenses, (id) => revisions('expense', id)) }
    const { drafts, costs } = await drafting.exported(visit, clientId)
    yield { name: 'drafts.json', input: JSON.stringify(drafts, null, 2) }
    yield { name: 'costs.json', input: JSON.stringify(costs, null, 2) }
    const others: string[] = []
    for (const [index, letter] of letters.entries()) {
      const name = `letters/${String(index + 1).padStart(3, '0')} ${nameOf(letter.subject)}`
      const mail = mails.find(({ letter_id }) => letter_id === letter.id)
      const { extension, bytes } = mail
        ? { extension: 'pdf', ...(await letterMails.file(visit, clientId, { letterId: letter.id, mailId: mail.id })) }
        : await fileOf(visit.actor, letter)
      if (extension !== 'pdf') others.push(`${name}.${extension}`)
      yield { name: `${name}.${extension}`, input: bytes }
    }
    const damaged: string[] = []
    yield* exportedDocuments(needs, visit, clientId, { documents, onDamaged: (name) => damaged.push(name) })
    const hasInvoices = may(visit.actor, 'read', 'invoice')
    if (hasInvoices) yield* exportedInvoices(needs, visit, clientId)
    const hasAudit = may(visit.actor, 'read', 'audit')
    if (hasAudit) yield { name: 'audit.csv', input: await auditLog.csv(visit, { client: clientId }) }
    yield { name: 'README.txt', input: readmeOf({ client: client.name, hasInvoices, hasAudit, others, damaged }) }
  }

  /** A PDF; or, if it cannot be one, a Word file; or its text, if it is too long for both. */
  async function fileOf(
    by: Actor,
    letter: LetterToWrite,
  ): Promise<{ readonly extension: string; readonly bytes: Uint8Array }> {
    const document = letterDocument(letter, needs)
    for (const extension of ['pdf', 'docx'] as const) {
      try {
        return { extension, bytes: await thread.write(by, extension, document) }
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'conflict') throw error
      }
    }
    return { extension: 'txt', bytes: Buffer.from(`${letter.subject}\n\n${letter.body}`) }
  }

  return Object.freeze<Exports>({
    async write(visit, clientId) {
      const whole = await records.whole.read(visit, clientId)
      const headers = {
        'cache-control': 'no-store',
        'content-type': 'application/zip',
        'content-disposition': attachment(whole.record.name, 'zip'),
      }
      return { zip: zipOf(filesOf(visit, clientId, whole)), headers }
    },
  })
}

/** An object with its revisions, as JSON in pieces. */
async function* objectOf(value: object, revisions: AsyncIterable<object>): AsyncGenerator<string> {
  yield `${JSON.stringify(value, null, 2).slice(0, -2)},\n  "revisions": [`
  let separator = '\n'
  for await (const revision of revisions) {
    yield `${separator}${JSON.stringify(revision, null, 2)}`
    separator = ',\n'
  }
  yield ']\n}'
}

/** The items of one noun, each with its revisions, as JSON in pieces. */
async function* itemsOf(
  items: readonly { readonly id: string }[],
  revisionsOf: (id: string) => AsyncIterable<object>,
): AsyncGenerator<string> {
  yield '['
  let separator = '\n'
  for (const item of items) {
    yield separator
    yield* objectOf(item, revisionsOf(item.id))
    separator = ',\n'
  }
  yield ']\n'
}

interface ListedContents {
  /** The name of the client. */
  readonly client: string
  readonly hasInvoices: boolean
  readonly hasAudit: boolean
  /** The letters that are not PDF files. */
  readonly others: readonly string[]
  /** The documents whose content is damaged. */
  readonly damaged: readonly string[]
}

/** The page of an export that says what its files are. */
function readmeOf({ client, hasInvoices, hasAudit, others, damaged }: ListedContents): string {
  const lines = [
    `The data of ${client}, exported at ${new Date().toISOString()}.`,
    '',
    'client.json    the client and its earlier versions',
    'notes.json     the notes of meetings, archived ones too, with their earlier versions',
    'disputes.json  the same for disputes',
    'letters.json   the same for letters',
    'mails.json     the mails with letters: to whom, what they said, and how they ended',
    'reviews.json   the reviews of letters: who was asked by whom, and how they ended',
    'documents.json the same for documents',
    'tasks.json     the same for tasks',
    'contacts.json  the same for contacts',
    'time.json      the same for time entries',
    'timers.json    the timers that people have started and not recorded yet',
    'expenses.json  the same for expenses',
    'drafts.json    what a model was asked to write: instructions, sources, tokens and cost',
    'costs.json     the cost of generation, by month and by letter',
    'letters/       the letters as they are now, or as they were sent',
    'documents/     the documents as they are now, and in earlier/ what their earlier versions had',
    ...(hasInvoices
      ? [
          'invoices.json  invoices and credit notes, drafts too, with their lines, payments and mails',
          'invoices/      those that were issued, as they were mailed',
        ]
      : []),
    ...(hasAudit ? ['audit.csv      who did what with this client'] : []),
    '',
    hasAudit
      ? 'Times in JSON files are in UTC. Those in audit.csv are in the time zone of the firm, with its offset from UTC.'
      : 'Times are in UTC.',
    'Amounts are decimal numbers in the currency given next to them.',
  ]
  const lists: readonly (readonly [why: string, names: readonly string[]])[] = [
    [
      'These letters are not PDF files, because the fonts lack some of their characters or the letters are too long:',
      others,
    ],
    [
      'These documents are damaged. Each file here ends where its damage begins; ask the operator to restore it from a backup:',
      damaged,
    ],
  ]
  const listed = lists.flatMap(([why, names]) => (names.length > 0 ? ['', why, ...names] : []))
  return `${[...lines, ...listed].join('\r\n')}\r\n`
}
