import type { Logger } from 'pino'
import type { RecordAccess } from '../../access/access.ts'
import { byService } from '../../access/actor.ts'
import type { KeptMails, Mailer } from '../../mail/mailer.ts'
import { startQueuing } from '../../mail/queuing.ts'
import { today } from '../../platform/text/calendar.ts'
import type { Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import * as store from './store.ts'
import type { InvoiceMails } from './mails.ts'

interface PayerMailNeeds {
  readonly database: Database
  readonly timeZone: string
}

/** What the delivery of mail needs of the mails to payers. */
export function createPayerMails({ database, timeZone }: PayerMailNeeds): KeptMails {
  return Object.freeze({
    fileOf: (id) => store.readMailFile(database, id, today(timeZone)),
    ended: (id, end) => store.endInvoiceMail(database, id, end === 'sent' || end === 'given_up' ? end : 'withdrawn'),
  } satisfies KeptMails)
}

interface SendingNeeds extends PayerMailNeeds {
  readonly access: Pick<RecordAccess, 'as'>
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined
  readonly mails: Pick<InvoiceMails, 'remind'>
  /** The days after the due date on which a reminder is sent. */
  readonly reminders: readonly number[]
  readonly log: Logger
  /** Polling interval in ms. Default: 2 s for mails that wait, 10 min for reminders. */
  readonly pace?: { readonly waiting: number; readonly reminders: number }
}

/** Starts queuing waiting mails to payers, and sending reminders of overdue invoices. Every instance does this. */
export function startInvoiceMail(needs: SendingNeeds): { close(): Promise<void> } {
  const { mailer, reminders, log, pace = { waiting: 2000, reminders: 600_000 } } = needs
  if (mailer === undefined) return Object.freeze({ close: () => Promise.resolve() })
  const queuing = startQueuing({
    ...needs,
    mailer,
    name: 'mail to payers',
    template: 'payer',
    pause: pace.waiting,
    // With the invoices locked: an invoice paid in the meantime gets no reminder.
    take: (tx, most) => store.takeWaitingMails(tx, today(needs.timeZone), most),
    end: store.endInvoiceMail,
  })
  const reminding =
    reminders.length === 0
      ? undefined
      : repeat({ name: 'reminders', pause: pace.reminders, work: () => remindAll(needs), log })
  return Object.freeze({
    async close() {
      await Promise.all([queuing.stop(), reminding?.stop()])
    },
  })
}

/** Continues with the next invoice if a reminder fails. */
async function remindAll({ access, mails, reminders, timeZone, log }: SendingNeeds): Promise<void> {
  const [due] = await access.as(byService, [store.readDueReminders(today(timeZone), reminders)])
  let sent = 0
  for (const reminder of due) {
    try {
      await mails.remind(reminder)
      sent++
    } catch (error) {
      const isProblem = error instanceof Problem
      if (isProblem && error.code === 'unavailable') throw error
      log.warn({ invoice: reminder.id, ...(isProblem ? { reason: error.code } : { err: error }) }, 'reminder: not sent')
    }
  }
  if (sent > 0) log.info({ invoices: sent }, 'reminders: sent')
}
