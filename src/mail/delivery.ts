import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { byService } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { keptTemplateOf, type KeptTemplate } from './catalogue.ts'
import type { KeptMails, MailEnd, RecipientOf } from './mailer.ts'
import { unsealMail, type MailQueue, type QueuedMail, type StoredMail } from './queue.ts'
import { MailFailure, type MailServer, type OutgoingMail } from './smtp.ts'

export interface MailDelivery {
  /** Waits a few seconds for mail that is being sent. What is not sent by then stays in the queue. */
  close(this: void): Promise<void>
}

interface DeliveryNeeds {
  readonly queue: MailQueue
  readonly server: MailServer
  readonly encryption: Encryption
  readonly audit: Pick<Audit, 'record'>
  readonly log: Logger
  /** Renders a mail to an address. */
  readonly render: (mail: StoredMail, to: string) => Omit<OutgoingMail, 'messageId'>
  /** The host of message ids. */
  readonly host: string
  readonly recipientOf: RecipientOf
  /** By template. Mails that are kept are sent only with it. */
  readonly kept?: Readonly<Partial<Record<KeptTemplate, KeptMails>>> | undefined
  readonly onEnd: (end: MailEnd) => void
  /** ms since 1970; default `Date.now`. */
  readonly clock?: () => number
  /** Polling interval of the queue in ms. Default 1000. */
  readonly lookEvery?: number
}

/** Mails that one instance sends at the same time. */
const mostAtOnce = 5
const keepEvery = 10_000
/** In ms, of closing. */
const grace = 5000

/** Sends the mail of the queue. */
export function startDelivery(needs: DeliveryNeeds): MailDelivery {
  const { queue, log, lookEvery = 1000 } = needs
  const inWork = new Map<string, Promise<void>>()
  const stop = new AbortController()
  const closing = new AbortController()
  const isClosing = new Promise((resolve) => closing.signal.addEventListener('abort', resolve))

  function begin(mail: QueuedMail): void {
    const work = deliver(needs, mail, stop.signal)
      .catch((error: unknown) => log.warn({ err: error, mail: mail.id }, 'mail: failed, will be retried'))
      .finally(() => inWork.delete(mail.id))
    inWork.set(mail.id, work)
  }
  /** Until none is due. A mail that takes long holds one place, not the others. */
  async function takeAll(): Promise<void> {
    while (!closing.signal.aborted) {
      const mails = await queue.take(mostAtOnce - inWork.size)
      mails.forEach(begin)
      if (mails.length === 0) return
      if (inWork.size >= mostAtOnce) await Promise.race([...inWork.values(), isClosing])
    }
  }
  const taking = repeat({ name: 'mail queue', pause: lookEvery, work: takeAll, log })
  const keep = () => queue.keep([...inWork.keys()])
  const keeping = repeat({ name: 'mail in work', pause: keepEvery, work: keep, log })

  return Object.freeze({
    async close() {
      closing.abort()
      await taking.stop()
      const timer = setTimeout(() => stop.abort(), grace)
      await Promise.all(inWork.values())
      clearTimeout(timer)
      await keeping.stop()
    },
  })
}

async function deliver(needs: DeliveryNeeds, queued: QueuedMail, signal: AbortSignal): Promise<void> {
  const { queue, encryption, log } = needs
  const mail = unsealMail(encryption, queued)
  try {
    // Another instance may have the key, or know the template.
    if (mail === undefined) throw new MailFailure('unreadable', false)
    const end = await sendOnce(needs, queued, mail, signal)
    // The mail is out: it must not be sent again because the database is away for a moment.
    await untilDone(() => finish(needs, queued, mail, end), signal)
    needs.onEnd(end)
    log.info({ mail: queued.id, template: mail.template, end }, 'mail')
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error
    const { reason, isPermanent } = error
    const about = { mail: queued.id, template: mail?.template, reason, tries: queued.tries + 1 }
    if (!isPermanent && !queued.isLastTry) {
      log.warn(about, 'mail: not accepted, will be retried')
      return queue.postpone(queued)
    }
    log.error(about, 'mail: given up')
    await recordGivenUp(needs, queued, mail, reason)
    await finish(needs, queued, mail, 'given_up')
    needs.onEnd('given_up')
  }
}

async function finish(
  { queue, kept = {} }: DeliveryNeeds,
  { id }: QueuedMail,
  mail: StoredMail | undefined,
  end: MailEnd,
): Promise<void> {
  const template = mail && keptTemplateOf(mail)
  if (template) await kept[template]?.ended(id, end)
  await queue.finish(id)
}

async function sendOnce(
  { server, render, host, recipientOf, kept = {}, clock = Date.now }: DeliveryNeeds,
  { id }: QueuedMail,
  mail: StoredMail,
  signal: AbortSignal,
): Promise<MailEnd> {
  if (mail.until !== undefined && mail.until <= clock()) return 'expired'
  const to = mail.onlyFor === undefined ? mail.to : await recipientOf(mail.to, mail.onlyFor)
  if (to === undefined) return 'not_allowed'
  const template = keptTemplateOf(mail)
  const file = template && (await kept[template]?.fileOf(id))
  if (template && file === undefined) return 'not_allowed'
  const { cc } = mail
  const outgoing = { ...render(mail, to), ...(cc !== undefined && { cc }), ...(file && { file }) }
  await server.send({ ...outgoing, messageId: `<${id}@${host}>` }, signal)
  return 'sent'
}

/** Without the address and the text: the log of the mail server has the id. */
async function recordGivenUp(
  { audit }: DeliveryNeeds,
  { id, tries }: QueuedMail,
  mail: StoredMail | undefined,
  reason: string,
): Promise<void> {
  const details = { template: mail?.template ?? 'unknown', reason, tries: String(tries + 1) }
  await audit.record({ ...byService, action: 'mail_given_up', outcome: 'refused', noun: 'mail', nounId: id, details })
}

/** Repeats `work` every second until it succeeds or the signal aborts. */
async function untilDone(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      await pause(1000, undefined, { signal }).catch(() => undefined)
    }
  }
}
