import type { Logger } from 'pino'
import type { Queryable } from '../../platform/database/database.ts'
import { readOtherInstances, reapInstance } from './store.ts'

/** Milliseconds of silence after which an instance is dead. */
const lease = 20_000
/** Milliseconds between two checks of the other instances. */
const pause = 4000
/** The longest pause after which a check still proves that the others were silent in between. */
const longestPause = 12_000

/** Releases the holds and allowances of dead instances. */
export interface Reaper {
  /** Checks the other instances, if it is time to. */
  look(database: Queryable, own: string): Promise<void>
  /** Starts observing again, as after an outage of the database: the other instances may only now be reconnecting. */
  forget(): void
}

/**
 * An instance is dead if its batch number stays the same for the length of the lease, measured by this process's
 * monotonic clock. A step of the database's clock or of a machine's clock therefore ends no lease and extends none.
 */
export function createReaper(log: Logger): Reaper {
  const silent = new Map<string, { readonly lastBatch: bigint; readonly since: number }>()
  let lookedAt = -Infinity

  return Object.freeze<Reaper>({
    forget: () => silent.clear(),
    async look(database, own) {
      const now = performance.now()
      if (now - lookedAt < pause) return
      // This process slept or waited for the database, and the others may have, too.
      if (now - lookedAt > longestPause) silent.clear()
      lookedAt = now
      const others = await readOtherInstances(database, own)
      // The database may have taken long to reply, which is not the silence of another instance.
      const readAt = performance.now()
      const ids = new Set(others.map(({ id }) => id))
      for (const id of silent.keys()) if (!ids.has(id)) silent.delete(id)
      for (const other of others) {
        const known = silent.get(other.id)
        if (known?.lastBatch !== other.lastBatch) silent.set(other.id, { lastBatch: other.lastBatch, since: readAt })
        else if (now - known.since >= lease && (await reapInstance(database, other))) {
          log.warn({ instance: other.id }, 'an instance stopped responding: its holds are released')
        }
      }
    },
  })
}
