import { randomUUIDv7 } from 'node:crypto'
import type { AuditedAction, RecordAccess } from '../../../access/access.ts'
import type { Visit } from '../../../access/actor.ts'
import { newId } from '../../../access/new-id.ts'
import { may, scopeOf } from '../../../access/policy.ts'
import { attachmentOf, nameOf } from '../../../documents/file-name.ts'
import { letterWords } from '../../../mail/letter-words.ts'
import { readEmail } from '../../../people/email.ts'
import { noMailServer, otherMail } from '../../../mail/sent-mails.ts'
import { codeOf } from '../../../platform/database/failure.ts'
import { recordId } from '../../../platform/database/uuid.ts'
import type { Basis } from '../../../platform/http/versions.ts'
import { Problem } from '../../../platform/problems.ts'
import type { Items } from '../../items/items.ts'
import { stale } from '../../items/outcomes.ts'
import { timeOf } from '../../items/values.ts'
import type { LetterFiles } from '../files.ts'
import type { LetterMail, LetterMailBody, LetterMailList, ProposedLetterMail } from './schema.ts'
import * as store from './store.ts'

export type { LetterMail } from './schema.ts'

/**
 * Mails with a letter as PDF to the client and its contacts. They are kept as they were sent. Every method applies the policy to the client,
 * writes an audit event whether it allows or refuses, and throws what `RecordAccess.refuse` throws.
 */
export interface LetterMails {
  /** To whom the letter can be sent, and what `send` says unless it is given other words. Throws Problem `conflict` as `send` does. */
  propose(visit: Visit, clientId: string, letterId: string): Promise<ProposedLetterMail>
  /**
   * Keeps a mail for each recipient, which is then sent, and marks an approved letter as sent. Idempotent per person and `key`. Throws
   * Problem `invalid_field` for an address that is not on the record now, `stale_version` if the letter is no longer in that version, and
   * `conflict` for a draft, an archived client or letter, mails that the sender does not know of, a letter that no PDF can show, and if no mail
   * is configured.
   */
  send(
    visit: Visit,
    clientId: string,
    letterId: string,
    mail: { readonly basis: Basis; readonly body: LetterMailBody },
    key?: string,
  ): Promise<LetterMailList>
  list(visit: Visit, clientId: string, letterId: string): Promise<LetterMailList>
  /** The PDF of a mail, as it was sent. */
  file(
    visit: Visit,
    clientId: string,
    of: { readonly letterId: string; readonly mailId: string },
  ): Promise<{ readonly bytes: Uint8Array; readonly headers: Readonly<Record<string, string>> }>
}

interface LetterMailNeeds {
  readonly access: RecordAccess
  readonly letters: Pick<Items, 'read'>
  readonly files: Pick<LetterFiles, 'pdf'>
  /** The name of the firm, for the words. */
  readonly firm: string
  readonly locale: string
  readonly hasMail: boolean
}

/** A sending as it was asked for. */
interface Sending {
  readonly id: string
  readonly clientId: string
  readonly letterId: string
  readonly basis: Basis
  readonly body: LetterMailBody
}

/** How often a file is written again because the client changed meanwhile. */
const attempts = 3

export function createLetterMails({ access, letters, files, firm, locale, hasMail }: LetterMailNeeds): LetterMails {
  async function find(visit: Visit, clientId: string, letterId: string, audited: AuditedAction) {
    const scope = scopeOf(visit.actor, 'change', 'letter')
    const [[row], [sent]] = await access.as(visit, [
      store.readLetterToMail(scope, clientId, letterId),
      store.readLetterMails(scope, clientId, letterId),
    ])
    if (!row || !sent || !may(visit.actor, 'change', 'letter', { consultantId: row.consultant_id })) {
      return access.refuse(visit, audited)
    }
    return { row, sent: sent.mails ?? [] }
  }

  const obstacleTo = (row: store.LetterToMail): Problem | undefined =>
    hasMail ? refusalOf(row.archived || row.client_status === 'archived' ? 'archived' : row.status) : noMailServer()

  async function propose(visit: Visit, clientId: string, letterId: string): Promise<ProposedLetterMail> {
    const audited: AuditedAction = { action: 'letter_read', noun: 'letter', clientId, nounId: letterId }
    const { row, sent } = await find(visit, clientId, letterId, audited)
    const obstacle = obstacleTo(row)
    if (obstacle) return access.decline(visit, audited, obstacle)
    await access.note(visit, audited)
    return {
      recipients: [...(row.recipients ?? [])],
      ...letterWords(row.subject, firm, locale),
      file: `${nameOf(row.subject)}.pdf`,
      mails: sent.length,
      version: row.version,
    }
  }

  async function send(visit: Visit, sending: Sending, attempt = 1): Promise<LetterMailList> {
    const { id, clientId, letterId, basis, body } = sending
    const audited: AuditedAction = { action: 'letter_mailed', noun: 'letter', clientId, nounId: letterId }
    const { row, sent } = await find(visit, clientId, letterId, audited)
    const kept = sent.filter(({ sending_id }) => sending_id === id)
    if (kept.length > 0) {
      return isSame(kept, sending)
        ? { mails: sent.map(presentLetterMail) }
        : access.decline(visit, audited, otherMail())
    }
    const obstacle = obstacleTo(row) ?? repeatedIn(body)
    if (obstacle) return access.decline(visit, audited, obstacle)
    if (basis !== null && !basis.includes(row.version)) return declineStale(visit, sending, audited)

    const content = row.has_file ? null : (await files.pdf(visit, clientId, letterId, audited)).bytes
    const mail = {
      ...wordsOf(row, body),
      sending_id: id,
      version: row.version,
      client_version: row.client_version,
      mails: body.mails ?? null,
      to: recipientsOf(body),
    }
    const insert = store.insertLetterMails(visit, { clientId, letterId }, mail, content)
    const after = store.readLetterMails(scopeOf(visit.actor, 'change', 'letter'), clientId, letterId)
    // In one transaction: once it has sent, nothing can refuse the answer.
    const [[inserted], [list]] = await access.as(visit, [insert, after]).catch(refused(visit, audited))
    const outcome = inserted?.outcome
    if (outcome === 'sent') return { mails: (list?.mails ?? []).map(presentLetterMail) }
    if (outcome === 'unknown') return access.refuse(visit, audited)
    // Another request sent it, or the letter or the client changed: look again.
    if ((outcome === 'exists' || outcome === 'stale') && attempt < attempts) return send(visit, sending, attempt + 1)
    return access.decline(visit, audited, refusalOf(outcome) ?? changing())
  }

  async function declineStale(visit: Visit, { clientId, letterId }: Sending, audited: AuditedAction): Promise<never> {
    return access.decline(visit, audited, stale(await letters.read(visit, clientId, letterId)))
  }

  /** Handles the errors of touch_client() and keep_letter_mail(): the client left the scope, or an address is no longer on its record. */
  function refused(visit: Visit, audited: AuditedAction) {
    return (error: unknown) => {
      if (codeOf(error) === 'TG003') return access.refuse(visit, audited)
      if (codeOf(error) === 'TG009') return access.decline(visit, audited, unknownRecipient(error))
      throw error
    }
  }

  const wordsOf = (row: store.LetterToMail, { subject, message }: LetterMailBody) => {
    const words = letterWords(row.subject, firm, locale)
    return { subject: subject ?? words.subject, message: message ?? words.message, file: `${nameOf(row.subject)}.pdf` }
  }

  return Object.freeze<LetterMails>({
    propose,
    send(visit, clientId, letterId, { basis, body }, key) {
      const id = newId(visit, `${clientId}/letters/${letterId}/send`, key)
      return send(visit, { id, clientId, letterId, basis, body })
    },
    async list(visit, clientId, letterId) {
      const audited: AuditedAction = { action: 'letter_mails_listed', noun: 'letter', clientId, nounId: letterId }
      const scope = scopeOf(visit.actor, 'read', 'letter')
      const [[row]] = await access.as(visit, [store.readLetterMails(scope, clientId, letterId)])
      if (!row || !may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id })) {
        return access.refuse(visit, audited)
      }
      await access.note(visit, audited)
      return { mails: (row.mails ?? []).map(presentLetterMail) }
    },
    async file(visit, clientId, of) {
      const details = { format: 'pdf', mail: of.mailId }
      const audited: AuditedAction = {
        action: 'letter_exported',
        noun: 'letter',
        clientId,
        nounId: of.letterId,
        details,
      }
      const scope = scopeOf(visit.actor, 'read', 'letter')
      const [[row]] = await access.as(visit, [store.readMailedFile(scope, clientId, of)])
      if (!row || !may(visit.actor, 'read', 'letter', { consultantId: row.consultant_id })) {
        return access.refuse(visit, audited)
      }
      await access.note(visit, audited)
      return {
        bytes: Buffer.from(row.content, 'base64'),
        headers: {
          'cache-control': 'no-store',
          'content-type': 'application/pdf',
          'content-disposition': attachmentOf(row.name),
        },
      }
    },
  })
}

const recipientsOf = ({ to }: LetterMailBody) =>
  to.map(({ contact, email }) => ({ id: randomUUIDv7(), contact: contact === null ? null : recordId(contact), email }))

function refusalOf(outcome: store.LetterMailOutcome | store.LetterToMail['status'] | undefined): Problem | undefined {
  const reason = outcome && reasons[outcome]
  return reason === undefined ? undefined : new Problem('conflict', reason)
}

const reasons: Readonly<Record<string, string>> = {
  archived: 'The client or the letter is archived: restore it before you send the letter.',
  draft: 'Only an approved letter can be sent: approve it first.',
  mailed: 'Someone else has just sent this letter. Check its mails before you send it again.',
  full: 'The letter has been sent 200 times and cannot be sent again.',
}

const changing = (): Problem => new Problem('conflict', 'The client is being changed. Nothing was sent: try again.')

function repeatedIn({ to }: LetterMailBody): Problem | undefined {
  const keys = to.map(({ email }) => readEmail(email)?.key ?? email)
  const repeated = to.find((_, index) => keys.indexOf(keys[index] ?? '') < index)
  return repeated && new Problem('invalid_field', `The field to has ${repeated.email} twice.`, { field: 'to' })
}

function unknownRecipient(cause: unknown): Problem {
  const reason =
    'The field to must have contacts of this client with their addresses, as they are now. A contact was archived, or an address has changed: choose the recipients again.'
  return new Problem('invalid_field', reason, { field: 'to', cause })
}

/** Whether a repeated request says the same as the mails that were kept. */
function isSame(kept: readonly store.LetterMailJson[], { body: { to, subject, message } }: Sending): boolean {
  return (
    inOrder(kept.map(({ recipient }) => recipient)) === inOrder(to.map(({ email }) => email)) &&
    kept.every((each) => each.subject === (subject ?? each.subject) && each.message === (message ?? each.message))
  )
}

const inOrder = (addresses: readonly string[]): string => addresses.toSorted().join('\n')

export function presentLetterMail(mail: store.LetterMailJson): LetterMail {
  const { id, letter_id, state, contact_id: contact, name, recipient: to, subject, message, digest: file_digest } = mail
  const by = mail.created_by === null ? null : { id: mail.created_by, name: mail.created_by_name ?? '' }
  return { id, letter_id, state, contact, name, to, subject, message, file_digest, at: timeOf(mail.created_at), by }
}
