import type { Logger } from 'pino'
import type { Database, Queryable } from '../platform/database/database.ts'
import { repeat } from '../platform/flow/repeat.ts'
import type { KeptTemplate } from './catalogue.ts'
import type { Mailer } from './mailer.ts'

/** A mail that its sender keeps, and that is to be queued. */
export interface WaitingMail {
  readonly id: string
  readonly to: string
  readonly cc: string | null
  readonly subject: string
  readonly message: string
  /** False for a mail that must no longer be sent. */
  readonly isDue: boolean
}

interface QueuingNeeds {
  /** For the log: `mail to payers`. */
  readonly name: string
  readonly template: KeptTemplate
  readonly database: Database
  readonly mailer: Mailer
  readonly log: Logger
  /** Polling interval in ms. Default 2000. */
  readonly pause?: number | undefined
  /** Takes mails that wait, within a transaction. No other instance gets them in the meantime. */
  readonly take: (tx: Queryable, most: number) => Promise<readonly WaitingMail[]>
  readonly end: (tx: Queryable, id: string, state: 'queued' | 'withdrawn') => Promise<void>
}

const mostAtOnce = 20

/**
 * Starts queuing mails that their sender keeps, each in the transaction that says so: once, whatever instance stops meanwhile. Every
 * instance does this.
 */
export function startQueuing(needs: QueuingNeeds): { stop(): Promise<void> } {
  const { name, log, pause = 2000 } = needs
  return repeat({ name, pause, work: () => queueAll(needs), log })
}

async function queueAll(needs: QueuingNeeds): Promise<void> {
  for (;;) if ((await queueSome(needs)) < mostAtOnce) return
}

function queueSome({ template, database, mailer, take, end }: QueuingNeeds): Promise<number> {
  return database.transaction(async (tx) => {
    const waiting = await take(tx, mostAtOnce)
    for (const { id, to, cc, isDue, subject, message } of waiting) {
      if (isDue) await mailer.send(tx, { id, to, ...(cc !== null && { cc }), template, values: { subject, message } })
      await end(tx, id, isDue ? 'queued' : 'withdrawn')
    }
    return waiting.length
  })
}
