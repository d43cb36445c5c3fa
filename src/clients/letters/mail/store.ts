import type { Visit } from '../../../access/actor.ts'
import type { Scope } from '../../../access/policy.ts'
import type { WaitingMail } from '../../../mail/queuing.ts'
import type { MailState } from '../../../mail/sent-mails.ts'
import type { Database, Queryable } from '../../../platform/database/database.ts'
import type { PreparedStatement } from '../../../platform/database/pipeline.ts'
import { within } from '../../statements-store.ts'

/** A mail with a letter, in PostgreSQL's JSON. */
export interface LetterMailJson {
  readonly id: string
  readonly letter_id: string
  /** The mails that one request sent have this in common. */
  readonly sending_id: string
  readonly state: MailState
  readonly contact_id: string | null
  readonly name: string
  readonly recipient: string
  readonly subject: string
  readonly message: string
  /** In hexadecimal. */
  readonly digest: string
  readonly created_at: string
  readonly created_by: string | null
  readonly created_by_name: string | null
}

export interface LetterMailsRow {
  readonly consultant_id: string
  readonly mails: readonly LetterMailJson[] | null
}

const mailsOf = (letters: string) => `(select json_agg(mail) from (
    select m.id, m.letter_id, m.sending_id, e.state, m.contact_id, m.name, m.recipient, m.subject, m.message, encode(m.digest, 'hex') as digest,
      m.created_at, m.created_by, p.name as created_by_name
    from letter_mail m join letter_mail_end e on e.mail_id = m.id left join person p on p.id = m.created_by
    where ${letters} order by m.created_at, m.id) mail) as mails`

/** The mails with a letter, in order. No row if it is out of reach. */
export function readLetterMails(scope: Scope, clientId: string, letterId: string): PreparedStatement<LetterMailsRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter mails ${name}`,
    text: `select c.consultant_id, ${mailsOf('m.letter_id = n.id')} from client c join letter n on n.client_id = c.id
      where ${condition} and c.id = $2 and n.id = $3`,
    values: [value, clientId, letterId],
  }
}

/** The mails with all letters of a client. */
export function readAllLetterMails(scope: Scope, clientId: string): PreparedStatement<LetterMailsRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `all letter mails ${name}`,
    text: `select c.consultant_id, ${mailsOf('m.client_id = c.id')} from client c where ${condition} and c.id = $2`,
    values: [value, clientId],
  }
}

export interface RecipientJson {
  readonly contact: string | null
  readonly name: string
  readonly job_title: string | null
  readonly email: string
}

export interface LetterToMail {
  readonly consultant_id: string
  readonly subject: string
  readonly recipients: readonly RecipientJson[] | null
  readonly version: number
  readonly client_version: number
  readonly client_status: 'active' | 'archived'
  readonly status: 'draft' | 'approved' | 'sent'
  readonly archived: boolean
  /** Whether its file is kept. */
  readonly has_file: boolean
}

/** What says whether and to whom a letter can be mailed. */
export function readLetterToMail(scope: Scope, clientId: string, letterId: string): PreparedStatement<LetterToMail> {
  const { condition, value, name } = within(scope)
  return {
    name: `letter to mail ${name}`,
    text: `select c.consultant_id, n.subject, n.version, c.version as client_version, c.status as client_status, n.status, n.archived_at is not null as archived,
        exists (select from letter_file f where f.letter_id = n.id) as has_file,
        (select json_agg(r) from (
          select null as contact, c.name, null as job_title, c.email where c.email is not null
          union all (select k.id, k.name, k.job_title, k.email from contact k
            where k.client_id = c.id and k.archived_at is null and k.email is not null order by words(k.name), k.id)) r) as recipients
      from client c join letter n on n.client_id = c.id where ${condition} and c.id = $2 and n.id = $3`,
    values: [value, clientId, letterId],
  }
}

/** The file of a mail with a letter. The content is in Base64. */
export function readMailedFile(
  scope: Scope,
  clientId: string,
  { letterId, mailId }: { readonly letterId: string; readonly mailId: string },
): PreparedStatement<{ readonly consultant_id: string; readonly name: string; readonly content: string }> {
  const { condition, value, name } = within(scope)
  return {
    name: `mailed letter file ${name}`,
    text: `select c.consultant_id, f.name, encode(f.content, 'base64') as content
      from client c join letter_mail m on m.client_id = c.id join letter_file f on f.letter_id = m.letter_id
      where ${condition} and c.id = $2 and m.letter_id = $3 and m.id = $4`,
    values: [value, clientId, letterId, mailId],
  }
}

export interface NewLetterMail {
  readonly sending_id: string
  /** The versions of the letter and the client that the file was written from. */
  readonly version: number
  readonly client_version: number
  /** How many mails the sender knows of. */
  readonly mails: number | null
  readonly to: readonly { readonly id: string; readonly contact: string | null; readonly email: string }[]
  readonly subject: string
  readonly message: string
  /** The name of the file. */
  readonly file: string
}

/** See send_letter(). */
export type LetterMailOutcome = 'sent' | 'exists' | 'unknown' | 'archived' | 'draft' | 'stale' | 'mailed' | 'full'

export function insertLetterMails(
  { requestId, address }: Visit,
  { clientId, letterId }: { readonly clientId: string; readonly letterId: string },
  mail: NewLetterMail,
  content: Uint8Array | null,
): PreparedStatement<{ readonly outcome: LetterMailOutcome }> {
  return {
    name: 'send letter',
    text: `select send_letter($1, $2, $3, decode($4, 'base64'), $5, $6) as outcome`,
    values: [
      clientId,
      letterId,
      JSON.stringify(mail),
      content === null ? null : Buffer.from(content).toString('base64'),
      requestId,
      address,
    ],
  }
}

/** Statements of the service, which sees records only with `tollgate.proof`. */
const proof = `select set_config('tollgate.proof', 'on', true)`

/** Takes mails that wait, within a transaction. No other instance gets them in the meantime. */
export async function takeWaitingLetters(tx: Queryable, most: number): Promise<WaitingMail[]> {
  await tx.rows(proof)
  return tx.rows(
    `select m.id, m.recipient as to, null as cc, m.subject, m.message, true as "isDue"
     from letter_mail_end e join letter_mail m on m.id = e.mail_id
     where e.state = 'waiting' order by m.created_at, m.id limit $1 for update of e skip locked`,
    [most],
  )
}

/** Within a transaction. */
export async function endLetterMail(tx: Queryable, mailId: string, state: MailState): Promise<void> {
  await tx.rows(proof)
  await tx.rows(
    `update letter_mail_end set state = $2, at = record_time() where mail_id = $1 and state in ('waiting', 'queued')`,
    [mailId, state],
  )
}

/** The file of a mail with a letter; undefined if its client was deleted or erased since. */
export function readLetterMailFile(
  database: Database,
  mailId: string,
): Promise<{ readonly name: string; readonly content: Buffer } | undefined> {
  return database.transaction(async (tx) => {
    await tx.rows(proof)
    const [row] = await tx.rows<{ name: string; content: Buffer }>(
      `select f.name, f.content from letter_mail m join client c on c.id = m.client_id and c.deleted_at is null
         join letter_file f on f.letter_id = m.letter_id where m.id = $1`,
      [mailId],
    )
    return row
  })
}
