import type { Logger } from 'pino'
import { withinPatience, type Database } from '../../platform/database/database.ts'
import { createLookups } from '../../platform/database/lookups.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { findKnownBudgets, type KnownBudgets } from '../budgets/known-budgets.ts'
import { readKeys, type KeyRow } from './store.ts'

/** A key as it was in the database at `readAt`. Times are of `performance.now()`. */
export interface KnownKey extends KeyRow {
  readonly readAt: number
  readonly expiresAt: number
  readonly sharedBudgets: KnownBudgets | undefined
}

/** The keys in use, cached for at most a second. */
export interface KeyCache {
  /** Returns a cached key unless it is older than a second. */
  fresh(publicId: string): KnownKey | undefined
  /**
   * The same, if text with this hash was verified before, so that its checksum and secret need no second check. The
   * comparison is not in constant time: it can reveal a part of the hash, but nothing of the text.
   */
  sent(publicId: string, hash: string): KnownKey | undefined
  /** Queries the database. Throws Problem `unavailable`, after 4 s if the database does not respond. */
  lookUp(publicId: string): Promise<KnownKey | undefined>
  /** Caches a key for as long as it is in use. `hash` is that of its verified text. */
  keep(key: KnownKey, hash: string): void
  close(): Promise<void>
}

/** ms. A change takes effect everywhere within `oldest`, which includes the time of a refresh. */
const refreshPause = 500
const oldest = 1000
const unusedFor = 60_000
/** How long lookups may join a running query, in ms. */
const shareable = 500

/** Caches only keys whose secret was verified, so that invented ids cannot fill the memory. */
export function createKeyCache({ database, log }: { database: Database; log: Logger }): KeyCache {
  const kept = new Map<string, { key: KnownKey; usedAt: number; readonly hash: string }>()

  const read = async (publicIds: readonly string[]): Promise<Map<string, KnownKey>> => {
    const readAt = performance.now()
    const rows = await readKeys(database, publicIds)
    const withBudgets = rows.flatMap(({ hasBudgets, accountId, id }) =>
      hasBudgets && accountId !== null ? [{ id, accountId }] : [],
    )
    const budgets = await findKnownBudgets(database, withBudgets)
    return new Map(rows.map((row) => [row.publicId, known(row, readAt, budgets.get(row.accountId ?? ''))]))
  }
  const refresh = async () => {
    const now = performance.now()
    for (const [publicId, { usedAt }] of kept) if (now - usedAt > unusedFor) kept.delete(publicId)
    if (kept.size === 0) return
    const publicIds = [...kept.keys()]
    const found = await read(publicIds)
    for (const publicId of publicIds) {
      const entry = kept.get(publicId)
      const key = found.get(publicId)
      if (key === undefined) kept.delete(publicId)
      else if (entry !== undefined && entry.key.readAt < key.readAt) entry.key = key
    }
  }
  const lookUp = createLookups(read, shareable)
  const refreshing = repeat({ name: 'refreshing the keys in use', pause: refreshPause, work: refresh, log })

  return Object.freeze<KeyCache>({
    fresh(publicId) {
      const key = kept.get(publicId)?.key
      return key !== undefined && performance.now() - key.readAt <= oldest ? key : undefined
    },
    sent(publicId, hash) {
      const entry = kept.get(publicId)
      const now = performance.now()
      if (entry === undefined || now - entry.key.readAt > oldest || entry.hash !== hash) return undefined
      entry.usedAt = now
      return entry.key
    },
    // A lookup may wait for the query before its own, so the timeout of its own query is not enough.
    lookUp: (publicId) => withinPatience(database, lookUp(publicId)),
    keep(key, hash) {
      const entry = kept.get(key.publicId)
      if (entry === undefined) kept.set(key.publicId, { key, usedAt: performance.now(), hash })
      else {
        entry.usedAt = performance.now()
        if (entry.key.readAt < key.readAt) entry.key = key
      }
    },
    close: () => refreshing.stop(),
  })
}

function known(row: KeyRow, readAt: number, sharedBudgets: KnownBudgets | undefined): KnownKey {
  const expiresAt = row.expiresIn === null ? Infinity : readAt + row.expiresIn
  return Object.freeze({ ...row, readAt, expiresAt, sharedBudgets })
}
