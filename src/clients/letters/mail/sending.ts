import type { Logger } from 'pino'
import type { KeptMails, Mailer } from '../../../mail/mailer.ts'
import { startQueuing } from '../../../mail/queuing.ts'
import type { Database } from '../../../platform/database/database.ts'
import { endLetterMail, readLetterMailFile, takeWaitingLetters } from './store.ts'

/** What the delivery of mail needs of the mails with letters. */
export function createKeptLetterMails({ database }: { readonly database: Database }): KeptMails {
  return Object.freeze({
    fileOf: (id) => readLetterMailFile(database, id),
    ended: (id, end) =>
      database.transaction((tx) => endLetterMail(tx, id, end === 'sent' || end === 'given_up' ? end : 'withdrawn')),
  } satisfies KeptMails)
}

interface LetterMailNeeds {
  readonly database: Database
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined
  readonly log: Logger
}

/** Starts queuing mails with letters. */
export function startLetterMail({ mailer, ...needs }: LetterMailNeeds): { stop(): Promise<void> } {
  if (mailer === undefined) return Object.freeze({ stop: () => Promise.resolve() })
  const statements = { take: takeWaitingLetters, end: endLetterMail }
  return startQueuing({ ...needs, ...statements, mailer, name: 'mail with letters', template: 'letter' })
}
