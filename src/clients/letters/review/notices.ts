import type { Logger } from 'pino'
import { byService } from '../../../access/actor.ts'
import type { Audit } from '../../../access/audit/audit.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import type { Database } from '../../../platform/database/database.ts'
import { proven } from '../../../platform/database/proven-store.ts'
import { repeat } from '../../../platform/flow/repeat.ts'
import { takeReviewNotices } from './notices-store.ts'

interface ReviewNoticeNeeds {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  /** Undefined if no mail server is configured. */
  readonly mailer: Mailer | undefined
  readonly log: Logger
  /** Polling interval in ms. Default 2000. */
  readonly pause?: number
}

const mostAtOnce = 20

/**
 * Starts queuing the mails about reviews, each in the transaction that removes its notice: once, whatever instance stops meanwhile. Every
 * instance does this. They go to people who were asked, and to those who asked; what no longer concerns someone is dropped.
 */
export function startReviewNotices(needs: ReviewNoticeNeeds): { stop(): Promise<void> } {
  const { mailer, log, pause = 2000 } = needs
  // Without mail, notices stay. Once there is mail, those older than a day are dropped.
  if (mailer === undefined) return Object.freeze({ stop: () => Promise.resolve() })
  return repeat({ name: 'mail about reviews', pause, work: () => queueAll(needs, mailer), log })
}

async function queueAll(needs: ReviewNoticeNeeds, mailer: Mailer): Promise<void> {
  for (;;) if ((await queueSome(needs, mailer)) < mostAtOnce) return
}

function queueSome({ database, audit }: ReviewNoticeNeeds, mailer: Mailer): Promise<number> {
  return proven(database, async (tx) => {
    const notices = await takeReviewNotices(tx, mostAtOnce)
    for (const { kind, to, personId, by, clientId, letterId } of notices) {
      if (to === null) continue
      const values = { kind, by, path: `/clients/${clientId}/letters/${letterId}` }
      await mailer.send(tx, { to, onlyFor: 'record_reader', template: 'letter_review', values })
      await audit.recordWithin(tx, [
        { ...byService, action: 'review_mail_queued', outcome: 'allowed', noun: 'person', nounId: personId },
      ])
    }
    return notices.length
  })
}
