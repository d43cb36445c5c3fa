import type { Queryable } from '../platform/database/database.ts'
import type { MailContent } from './catalogue.ts'

export type { AccountChange } from './catalogue.ts'

/** A mail to one address. */
export type MailMessage = MailContent & {
  /** Given if the sender keeps the mail under this id. Default: a new one. */
  readonly id?: string
  readonly to: string
  /** An address that gets a copy. */
  readonly cc?: string
  /** Not sent later than this: a link that has expired is of no use. */
  readonly until?: Date
  readonly onlyFor?: RecipientRule
}

/**
 * `sign_in`: only to an address that may sign in or sign up. `person`: only to that of a person who may sign in. `record_reader`: only to
 * that of a person who may sign in and whose role may read records. This is decided when the mail is about to be sent, so that the request does the same work for every address.
 */
export type RecipientRule = 'sign_in' | 'person' | 'record_reader'

/** The address to use for a mail with this rule; undefined if it must not be sent. */
export type RecipientOf = (address: string, rule: RecipientRule) => Promise<string | undefined>

/** A file of a mail. */
export interface MailFile {
  readonly name: string
  readonly content: Buffer
}

/** What the delivery needs of a sender that keeps its mails, by their ids. */
export interface KeptMails {
  /** The file to attach; undefined if the mail must no longer be sent. */
  fileOf(this: void, id: string): Promise<MailFile | undefined>
  /** Records the outcome of a mail. Idempotent. */
  ended(this: void, id: string, end: MailEnd): Promise<void>
}

/** The outcome of a mail. */
export type MailEnd = 'sent' | 'given_up' | 'expired' | 'not_allowed'

/** Sends mail in the background, so that requests succeed while the mail server is down or refuses a mail. */
export interface Mailer {
  /** Queues a mail within a transaction: it is sent, once, if the transaction commits. */
  send(this: void, tx: Queryable, mail: MailMessage): Promise<void>
}
