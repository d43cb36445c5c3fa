import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { removeUnused } from './store.ts'

/** How long bytes are kept that belong to no document. */
const kept = '24 hours'

interface SweepingNeeds {
  readonly database: Database
  readonly log: Logger
  /** In ms. Default 10 min. */
  readonly pause?: number
}

/** Starts removing uploads that nobody continues, and contents that no document has had. Every instance does this. */
export function startSweeping({ database, log, pause = 600_000 }: SweepingNeeds): { close(): Promise<void> } {
  const sweeping = repeat({
    name: 'removing unused uploads',
    pause,
    work: async () => {
      const removed = await removeUnused(database, kept)
      if (removed > 0) log.info({ removed }, 'unused uploads were removed')
    },
    log,
  })
  return Object.freeze({ close: () => sweeping.stop() })
}
