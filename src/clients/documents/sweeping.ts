import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { removeUnused } from './store.ts'

/** How long bytes are kept that belong to no document. */
const kept = '24 hours'
/** Between two looks for them, in ms. */
const pause = 600_000

interface SweepingNeeds {
  readonly database: Database
  readonly log: Logger
}

/** Starts removing uploads that nobody continues, and contents that no document has had. Every instance does this. */
export function startSweeping({ database, log }: SweepingNeeds): { close(): Promise<void> } {
  const closing = new AbortController()
  const work = async () => {
    let [removed, last] = [0, 0]
    do {
      last = await removeUnused(database, kept)
      removed += last
    } while (last > 0 && !closing.signal.aborted)
    if (removed > 0) log.info({ removed }, 'unused uploads were removed')
  }
  const sweeping = repeat({ name: 'removing unused uploads', pause, work, log })
  return Object.freeze({
    close() {
      closing.abort()
      return sweeping.stop()
    },
  })
}
