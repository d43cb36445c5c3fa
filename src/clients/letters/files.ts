import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { paperOf, type DigitalSource, type FileFormat, type LetterDocument } from '../../documents/document.ts'
import { attachment } from '../../documents/file-name.ts'
import { printPagePolicy } from '../../documents/print/print-style.ts'
import { namedCharacters, type WritingThread } from '../../documents/writing-thread.ts'
import type { Config } from '../../platform/config/config.ts'
import { Problem } from '../../platform/problems.ts'
import type { Items } from '../items/items.ts'
import type { Approvals, LetterChange } from './approval/approvals.ts'
import { readLetterToSend, readLetterToWrite, type LetterToWrite } from './store.ts'

export type { LetterToWrite } from './store.ts'

/** A file, with the headers of its response. */
interface LetterFile {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Letters as files: with the firm's letterhead, the address, the date and the signature. */
export interface LetterFiles {
  /**
   * Writes an audit event whether it allows or refuses. Throws what `RecordAccess.refuse` throws, and Problem `conflict` if the
   * letter cannot be written in this format.
   */
  write(visit: Visit, clientId: string, letterId: string, format: FileFormat): Promise<LetterFile>
  /** The same as PDF, for `audited`, which is recorded only if it is refused. */
  pdf(visit: Visit, clientId: string, letterId: string, audited: AuditedAction): Promise<Pick<LetterFile, 'bytes'>>
  /**
   * Checks what follows once a letter is sent and can no longer be changed. Throws Problem `conflict` if its PDF could not show
   * some of its characters. A letter out of reach is not checked.
   */
  checkSending(visit: Visit, clientId: string, letter: SentLetter): Promise<void>
}

export interface LetterSettings {
  readonly firm: Config['firm']
  /** The sentence below letters that a model wrote. */
  readonly notice: string | undefined
}

interface LetterChecks {
  readonly approvals: Approvals
  readonly files: Pick<LetterFiles, 'checkSending'>
}

/** Letters that are checked before they are approved and sent. */
export function checkedLetters(letters: Items, { approvals, files }: LetterChecks): Items {
  async function check(visit: Visit, clientId: string, change: LetterChange): Promise<void> {
    await approvals.check(visit, clientId, change)
    if (change.status === 'sent') await files.checkSending(visit, clientId, change)
  }
  return Object.freeze({
    ...letters,
    async create(visit, clientId, body, key) {
      await check(visit, clientId, body)
      return letters.create(visit, clientId, body, key)
    },
    async change(visit, clientId, id, { basis, body }) {
      await check(visit, clientId, { ...body, id })
      return letters.change(visit, clientId, id, { basis, body })
    },
  } satisfies Items)
}

/** What is to be sent: a new letter without an id, or a change of the one that has it. */
interface SentLetter {
  readonly id?: string
  readonly subject?: string
  readonly body?: string
}

interface LetterFileNeeds extends LetterSettings {
  readonly access: RecordAccess
  readonly thread: Pick<WritingThread, 'write' | 'missingIn'>
}

export function createLetterFiles({ access, thread, ...settings }: LetterFileNeeds): LetterFiles {
  async function bytesOf(
    visit: Visit,
    letterId: string,
    format: FileFormat,
    audited: AuditedAction & { clientId: string },
  ) {
    const scope = scopeOf(visit.actor, 'read', 'letter')
    const [[row]] = await access.as(visit, [readLetterToWrite(scope, audited.clientId, letterId)])
    if (!row || !may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id })) {
      return access.refuse(visit, audited)
    }
    const bytes = await thread.write(visit.actor, format, letterDocument(row, settings)).catch((error: unknown) => {
      if (error instanceof Problem) return access.decline(visit, audited, error)
      throw error
    })
    return { bytes, subject: row.subject }
  }

  return Object.freeze<LetterFiles>({
    async write(visit, clientId, letterId, format) {
      const details = { format: format === 'html' ? 'print' : format }
      const audited = { action: 'letter_exported', noun: 'letter', clientId, nounId: letterId, details }
      const { bytes, subject } = await bytesOf(visit, letterId, format, audited)
      await access.note(visit, audited)
      return { bytes, headers: { 'cache-control': 'no-store', ...headersOf(format, subject) } }
    },

    pdf: (visit, clientId, letterId, audited) => bytesOf(visit, letterId, 'pdf', { ...audited, clientId }),

    async checkSending(visit, clientId, { id, subject, body }) {
      const [[row]] = await access.as(visit, [readLetterToSend(scopeOf(visit.actor, 'read', 'letter'), clientId, id)])
      if (!row) return
      const letter = letterDocument(
        {
          ...row,
          consultant_id: '',
          subject: subject ?? row.subject ?? '',
          body: body ?? row.body ?? '',
          sent_at: null,
          recipient: null,
          generated: false,
          edited: false,
        },
        settings,
      )
      const missing = await thread.missingIn({ format: 'pdf', letter })
      if (missing.length === 0) return
      const audited: AuditedAction = {
        action: 'letter_sent',
        noun: 'letter',
        clientId,
        ...(id !== undefined && { nounId: id }),
      }
      await access.decline(visit, audited, unsendable(missing))
    },
  })
}

function unsendable(missing: readonly string[]): Problem {
  return new Problem(
    'conflict',
    `A sent letter cannot be changed, and no PDF of this one could show ${namedCharacters(missing)}: no font has them. Remove them first.`,
    { field: 'body' },
  )
}

/** The letter as the firm sends it, or as it was sent. */
export function letterDocument(row: LetterToWrite, { firm, notice = '' }: LetterSettings): LetterDocument {
  const { locale, time_zone: timeZone, closing, ...letterhead } = firm
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone })
  return {
    letterhead,
    recipient: (row.recipient ?? [row.name, row.address].filter((part) => part !== null).join('\n')).split('\n'),
    date: format.format(row.sent_at ?? new Date()),
    subject: row.subject,
    text: row.body,
    closing,
    author: row.author ?? '',
    language: locale,
    paper: paperOf(locale),
    source: sourceOf(row),
    notice: row.generated ? notice : '',
  }
}

function sourceOf({ generated, edited }: LetterToWrite): DigitalSource | undefined {
  if (!generated) return undefined
  return edited ? 'compositeWithTrainedAlgorithmicMedia' : 'trainedAlgorithmicMedia'
}

function headersOf(format: FileFormat, subject: string): Record<string, string> {
  switch (format) {
    case 'pdf':
      return { 'content-type': 'application/pdf', 'content-disposition': attachment(subject, 'pdf') }
    case 'docx':
      return {
        'content-type': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
        'content-disposition': attachment(subject, 'docx'),
      }
    case 'html':
      return { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': printPagePolicy }
  }
}
