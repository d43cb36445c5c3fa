import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { removeObjects } from './storage/removal.ts'
import type { Storage } from './storage/storage.ts'
import { removeUnused } from './store.ts'

/** How long bytes are kept that belong to no document. */
const kept = '24 hours'
/** Between two looks for them, in ms. */
const pause = 600_000
/** Between two looks for objects that are not needed any more. Erased files are not kept much longer than the rows about them. */
const objectPause = 60_000

interface SweepingNeeds {
  readonly database: Database
  readonly storage: Pick<Storage, 'places' | 'remove'>
  readonly log: Logger
}

/**
 * Starts removing uploads that nobody continues, contents that no document has had, and the objects of chunks that are not there any more.
 * Every instance does this.
 */
export function startSweeping(needs: SweepingNeeds): { close(): Promise<void> } {
  const { database, log } = needs
  const closing = new AbortController()
  const untilNone = (what: string, remove: () => Promise<number>) => async () => {
    let [removed, last] = [0, 0]
    do {
      last = await remove()
      removed += last
    } while (last > 0 && !closing.signal.aborted)
    if (removed > 0) log.info({ removed }, `${what} were removed`)
  }
  const sweepings = [
    repeat({
      name: 'removing unused uploads',
      pause,
      work: untilNone('unused uploads', () => removeUnused(database, kept)),
      log,
    }),
    repeat({
      name: 'removing files of documents',
      pause: objectPause,
      work: untilNone('files of documents', () => removeObjects(needs)),
      log,
    }),
  ]
  return Object.freeze({
    async close() {
      closing.abort()
      await Promise.all(sweepings.map((sweeping) => sweeping.stop()))
    },
  })
}
