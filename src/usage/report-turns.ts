import { Problem } from '../platform/problems.ts'
import { createTurnstile, type Turnstile } from '../platform/flow/turnstile.ts'

/** Reports at a time; and reports of one account that run or wait. */
const most = { running: 2, ofAccount: 100 }

/**
 * Runs the reports of accounts a few at a time, and one at a time of each account. A report can read much, is free and takes
 * nothing from the limits, and the lookups of all keys use the same connections.
 */
export interface ReportTurns {
  /** Throws Problem `unavailable` if too many reports of the account wait. */
  run<Report>(accountId: string, make: () => Promise<Report>): Promise<Report>
}

export function createReportTurns(): ReportTurns {
  const all = createTurnstile(most.running)
  const accounts = new Map<string, { readonly turns: Turnstile; reports: number }>()

  return Object.freeze({
    async run<Report>(accountId: string, make: () => Promise<Report>) {
      const own = accounts.get(accountId) ?? { turns: createTurnstile(1), reports: 0 }
      if (own.reports >= most.ofAccount) throw tooMany()
      accounts.set(accountId, own)
      own.reports++
      try {
        return await own.turns.run(() => all.run(make))
      } finally {
        own.reports--
        if (own.reports === 0) accounts.delete(accountId)
      }
    },
  })
}

const tooMany = (): Problem =>
  new Problem('unavailable', 'Too many usage reports for this account are in progress. Send the request again later.', {
    retryAfter: 5,
  })
