import type { Logger } from 'pino'
import type { Database } from '../../platform/database/database.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { writeLastSeen } from './store.ts'

export interface LastSeen {
  /** Notes that a session was used at `now`, in ms. */
  note(session: { readonly id: string; readonly lastSeenAt: Date }, now: number): void
  /** When a session was last used, as far as this instance knows. */
  of(session: { readonly id: string; readonly lastSeenAt: Date }): number
  /** Writes the pending times. */
  close(): Promise<void>
}

/** In ms: the last use, the last use that was written, and when it was written. */
interface Seen {
  at: number
  value: number
  written: number
}

/**
 * Writes when each session was last used, in the background, at most once per session in `every` ms. The written time is
 * at most that old while the session is in use on any instance, and exact `every` ms after the last use.
 */
export function createLastSeen(needs: {
  readonly database: Database
  readonly log: Logger
  readonly clock: () => number
  /** At most a minute: sessions.ts chooses it, and decides when an unused session ends. */
  readonly every: number
}): LastSeen {
  const { database, log, clock, every } = needs
  const seen = new Map<string, Seen>()

  const write = async (due: readonly [string, Seen][]) => {
    if (due.length === 0) return
    const values = due.map(([, { at }]) => at)
    const at = values.map((value) => new Date(value))
    const busy = new Set(await writeLastSeen(database, { ids: due.map(([id]) => id), at }))
    due.forEach(([id, session], index) => {
      if (busy.has(id)) return
      session.value = values[index] ?? session.value
      session.written = clock()
    })
  }
  const writeDue = async () => {
    const old = [...seen].filter(([, { written }]) => clock() - written >= every)
    await write(old.filter(([, { at, value }]) => at > value))
    for (const [id, { at, value, written }] of old) if (at === value && clock() - written >= every) seen.delete(id)
  }
  const pause = Math.min(every / 4, 1000)
  const writing = repeat({ name: 'last use of sessions', pause, work: writeDue, log })

  return Object.freeze<LastSeen>({
    note({ id, lastSeenAt }, now) {
      const known = seen.get(id)
      const written = lastSeenAt.getTime()
      if (known === undefined) seen.set(id, { at: now, value: written, written })
      else {
        known.at = Math.max(known.at, now)
        // Another instance may have written a later time.
        known.value = Math.max(known.value, written)
        known.written = Math.max(known.written, written)
      }
    },
    of: ({ id, lastSeenAt }) => Math.max(lastSeenAt.getTime(), seen.get(id)?.at ?? 0),
    async close() {
      await writing.stop()
      const rest = [...seen].filter(([, { at, value }]) => at > value)
      await write(rest).catch((error: unknown) => log.warn({ err: error }, 'the last use of sessions was not written'))
    },
  })
}
