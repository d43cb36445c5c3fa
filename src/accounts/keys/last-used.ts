import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { writeLastUsed } from './store.ts'

export interface LastUsed {
  /** Notes that a key was used just now, in memory. */
  note(keyId: string): void
  /** Writes the times that are not written yet. */
  close(): Promise<void>
}

const writePause = 10_000

/** Writes when each key was last used, in the background, all keys in one statement. */
export function createLastUsed({ database, log }: { database: Database; log: Logger }): LastUsed {
  let used = new Map<string, number>()

  const write = async () => {
    if (used.size === 0) return
    const writing = used
    used = new Map()
    try {
      const now = performance.now()
      await writeLastUsed(database, {
        ids: [...writing.keys()],
        agesMs: [...writing.values()].map((usedAt) => now - usedAt),
      })
    } catch (error) {
      used = new Map([...writing, ...used])
      throw error
    }
  }
  const writing = repeat({ name: 'writing the last-used times of keys', pause: writePause, work: write, log })

  return Object.freeze<LastUsed>({
    note(keyId) {
      used.set(keyId, performance.now())
    },
    async close() {
      await writing.stop()
      await write().catch((error: unknown) => log.warn({ err: error }, 'the last-used times of keys were not written'))
    },
  })
}
