import type { Logger } from 'pino'
import type { RecordAccess } from '../../access/access.ts'
import { byService } from '../../access/actor.ts'
import type { Config } from '../../platform/config/config.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'
import { codeOf } from '../../platform/database/failure.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import type { FindUnprintable } from './left-drafts.ts'
import { billMonth } from './monthly-run.ts'
import { claimMonth, endClaim, extendClaim } from './store.ts'
import type { InvoiceSettings } from '../settings.ts'

interface RunJobNeeds {
  readonly database: Database
  readonly databaseUrl: string
  readonly access: RecordAccess
  readonly settings: InvoiceSettings
  readonly run: Pick<Config['invoicing'], 'run' | 'run_day'>
  readonly unprintable: FindUnprintable
  readonly log: Logger
  /** Interval in ms between checks for a month to run. Default: a minute. A claim is extended three times as often. */
  readonly pace?: number
}

const defaultPace = 60_000

/**
 * Starts billing each month once it is over and its day has come. Every instance does this; one of them works on a month, and
 * another continues if that one dies. Months that no instance was there for are run later.
 */
export function startMonthlyRun(needs: RunJobNeeds): { close(): Promise<void> } {
  const { database, settings, run, log, pace = defaultPace } = needs
  if (run.run === 'off') return Object.freeze({ close: () => Promise.resolve() })
  const closing = new AbortController()
  async function work(): Promise<void> {
    while (!closing.signal.aborted) {
      const firstDay = await claimMonth(database, { day: run.run_day, timeZone: settings.timeZone })
      if (firstDay === undefined) return
      // A month that is not finished is claimed again after the pause.
      if (!(await runMonth(needs, firstDay, closing.signal))) return
    }
  }
  const running = repeat({ name: 'monthly run', pause: pace, work, log })
  return Object.freeze({
    async close() {
      closing.abort()
      await running.stop()
    },
  })
}

/** Until the month is billed, or the signal aborts. Returns whether all of it is billed. */
async function runMonth(needs: RunJobNeeds, firstDay: string, signal: AbortSignal): Promise<boolean> {
  const { database, databaseUrl, access, settings, run, unprintable, log, pace = defaultPace } = needs
  const month = firstDay.slice(0, 7)
  // The usage of a month takes longer to read than other statements may.
  const patient = openDatabase(databaseUrl, { log, connections: 1, statementTimeout: 0 })
  // Reading the usage of many accounts takes longer than a claim lasts.
  const extending = repeat({
    name: 'monthly run: claim',
    pause: pace / 3,
    work: () => extendClaim(database, firstDay),
    log,
  })
  let isFinished = false
  try {
    log.info({ month }, 'monthly run: started')
    const issue = run.run === 'issue'
    const billing = billMonth(byService, { access, database: patient, settings, month, issue, unprintable })
    let refusals = 0
    for await (const { done, of, refused, left } of billing) {
      log.info({ month, done, of }, 'monthly run')
      for (const { id: account_id, error } of refused) {
        log.error(
          { month, account_id, code: codeOf(error), reason: error.message },
          'monthly run: an account was not billed',
        )
      }
      for (const { id: invoice_id, accountId: account_id, reasons } of left) {
        log.warn({ month, account_id, invoice_id, reason: reasons.join(' ') }, 'monthly run: a draft was not issued')
      }
      refusals += refused.length
      if (signal.aborted) return false
    }
    isFinished = refusals === 0
    log.info({ month, refused: refusals }, isFinished ? 'monthly run: finished' : 'monthly run: to be continued')
    return isFinished
  } finally {
    await extending.stop()
    await patient.close()
    await endClaim(database, firstDay, isFinished)
  }
}
