import { randomUUIDv7 } from 'node:crypto'
import type { Logger } from 'pino'
import type { Audit } from '../access/audit/audit.ts'
import type { Config } from '../platform/config/config.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { OperatorError } from '../platform/problems.ts'
import { compose, keptTemplateOf, type KeptTemplate } from './catalogue.ts'
import { startDelivery } from './delivery.ts'
import type { KeptMails, MailEnd, Mailer, RecipientOf } from './mailer.ts'
import { openMailQueue, sealMail, type MailQueue } from './queue.ts'

export { migrateMailQueue } from './queue.ts'
import { renderMail } from './render.ts'
import { MailFailure, openMailServer } from './smtp.ts'

/** How many mails of this instance had each end. */
export type MailEnds = Readonly<Record<MailEnd, number>>

export interface OpenMailer extends Mailer {
  ends(this: void): MailEnds
  /** Finishes what is being sent; the rest stays in the queue. */
  close(): Promise<void>
}

interface Needs {
  readonly config: Pick<Config, 'mail' | 'base_url'> & {
    readonly firm: Pick<Config['firm'], 'name' | 'email'>
  }
  readonly databaseUrl: string
  readonly encryption: Encryption
  readonly audit: Pick<Audit, 'record'>
  readonly log: Logger
  readonly recipientOf: RecipientOf
  /** The senders that keep their mails. */
  readonly kept?: Readonly<Record<KeptTemplate, KeptMails>>
  /** Default: see `startDelivery` and `openMailQueue`. */
  readonly pace?: { readonly lookEvery: number; readonly firstPause: number; readonly superviseEvery: number }
}

/** Who the mail is from, in its last line, if the firm has no name. */
const product = 'Tollgate'

/** Sends the mail of this instance; undefined if no mail server is configured. */
export async function openMailer(needs: Needs): Promise<OpenMailer | undefined> {
  const { config, databaseUrl, encryption, log, pace } = needs
  const { mail: settings, base_url: baseUrl } = config
  if (settings === undefined) return undefined
  const firm = config.firm.name
  const queue = await openMailQueue({ databaseUrl, log, ...pace })
  const server = await openMailServer(settings)
  const ends: Record<MailEnd, number> = { sent: 0, given_up: 0, expired: 0, not_allowed: 0 }
  const delivery = startDelivery({
    ...needs,
    ...pace,
    onEnd: (end) => void ends[end]++,
    queue,
    server,
    render: (mail, to) => ({
      to,
      ...renderMail(compose(mail, firm), { baseUrl, name: firm ?? product }),
      ...(keptTemplateOf(mail) && config.firm.email !== undefined && { replyTo: config.firm.email }),
    }),
    host: new URL(baseUrl).hostname,
  })
  return Object.freeze({
    send: senderTo(queue, encryption),
    ends: () => ends,
    async close() {
      await delivery.close()
      server.close()
      await queue.close()
    },
  })
}

/** Queues mail for the instances to send. Changes no schema. */
export async function openOutbox({
  databaseUrl,
  encryption,
  log,
}: Pick<Needs, 'databaseUrl' | 'encryption' | 'log'>): Promise<Mailer & Pick<OpenMailer, 'close'>> {
  const queue = await openMailQueue({ databaseUrl, log, addsOnly: true })
  return Object.freeze({ send: senderTo(queue, encryption), close: () => queue.close() })
}

function senderTo(queue: MailQueue, encryption: Encryption): Mailer['send'] {
  return async (tx, mail) => {
    const { id = randomUUIDv7() } = mail
    await queue.add(tx, { id, sealed: sealMail(encryption, id, mail) })
  }
}

/** A summary of the mail server for `doctor`, which sends nothing. Throws OperatorError if it cannot be used. */
export async function surveyMail({ mail: settings }: Pick<Config, 'mail'>): Promise<string> {
  if (settings === undefined) return 'no mail server is configured: no mail is sent'
  const server = await openMailServer(settings)
  const { host } = new URL(settings.url)
  try {
    await server.check()
    return `${host} accepts mail`
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    throw new OperatorError(
      `The mail server ${host} cannot be used (${error.reason}). Correct mail.url, or check the network.`,
    )
  } finally {
    server.close()
  }
}
