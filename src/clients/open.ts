import type { RecordAccess } from '../access/access.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Logger } from 'pino'
import type { WritingThread } from '../documents/writing-thread.ts'
import { invoiceSettings } from '../invoicing/settings.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import type { Feature } from '../platform/feature.ts'
import { createContents, type Contents } from './documents/contents.ts'
import { openStorage } from './documents/storage/storage.ts'
import { startReading } from './documents/text/reading.ts'
import { startSweeping } from './documents/sweeping.ts'
import { createUploads } from './documents/uploads.ts'
import { createApprovals, keepApprovalRule } from './letters/approval/approvals.ts'
import { createLetterFiles } from './letters/files.ts'
import { createLetterMails, type LetterMails } from './letters/mail/mails.ts'
import { startLetterMail } from './letters/mail/sending.ts'
import { createLetterReviews } from './letters/review/reviews.ts'
import { startReviewNotices } from './letters/review/notices.ts'
import { createRecords, type Records } from './records.ts'
import { recordExamples, registerClients, type ClientRouteNeeds } from './routes.ts'

interface ClientsNeeds extends Omit<
  ClientRouteNeeds,
  'records' | 'approvals' | 'letterFiles' | 'letterMails' | 'letterReviews' | 'uploads' | 'contents'
> {
  readonly access: RecordAccess
  readonly audit: Audit
  readonly config: Pick<Config, 'currency' | 'documents' | 'firm' | 'invoicing' | 'letters' | 'drafting'>
  readonly mailer: Mailer | undefined
  readonly thread: WritingThread
  readonly database: Database
  readonly encryption: Encryption
  readonly log: Logger
}

export interface ClientsFeature extends Feature {
  readonly records: Records
  readonly contents: Contents
  readonly letterMails: LetterMails
  close(this: void): Promise<void>
}

/** Clients with their items, letters as files, and the contents of documents. Throws OperatorError if these cannot be stored as configured. */
export async function openClients(needs: ClientsNeeds): Promise<ClientsFeature> {
  const { access, config, database, mailer, thread } = needs
  const { firm, currency, invoicing, letters, drafting } = config
  await keepApprovalRule(database, letters.approval)
  const approvals = createApprovals({ access, rule: letters.approval })
  const records = createRecords({
    access,
    currency,
    billing: {
      hourlyRate: invoicing.hourly_rate,
      taxes: [...invoiceSettings(config).taxes.keys()],
      timeZone: firm.time_zone,
    },
  })
  const letterFiles = createLetterFiles({ access, firm, notice: drafting?.notice, thread })
  const letterMails = createLetterMails({
    access,
    letters: records.letters,
    files: letterFiles,
    firm: firm.name ?? '',
    locale: firm.locale,
    hasMail: mailer !== undefined,
  })
  const storage = await openStorage(needs)
  const stored = { ...needs, storage }
  const letterReviews = createLetterReviews({ access, letters: records.letters, rule: letters.approval })
  const sending = startLetterMail(needs)
  const telling = startReviewNotices(needs)
  const contents = createContents(stored)
  const uploads = createUploads(stored)
  const sweeping = startSweeping(stored)
  const reading = startReading(stored)
  return Object.freeze({
    records,
    contents,
    letterMails,
    routes: (server) =>
      registerClients(server, {
        ...needs,
        records,
        approvals,
        letterFiles,
        letterMails,
        letterReviews,
        uploads,
        contents,
      }),
    examples: recordExamples,
    async close() {
      await Promise.all([sending.stop(), telling.stop(), sweeping.close(), reading.close()])
      await storage.close()
    },
  } satisfies ClientsFeature)
}
