import type { Database, Queryable } from './database.ts'

/** The time limit for the commit, in ms. */
const patience = 2000

// Larger than the smallest work_mem, so that the rows spill to disk.
const probeRows = 10_000

/**
 * Returns a function that resolves with whether the database commits a write in time. It detects a standby, a database
 * that is read-only, a full disk, and a commit that waits for a synchronous standby. It leaves no row behind. Concurrent
 * calls share one probe.
 */
export function createWriteProbe(database: Pick<Database, 'transaction'>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  return () => {
    running ??= tryWrite(database)
      .catch(() => false)
      .finally(() => (running = undefined))
    return inTime(running)
  }
}

/** Writes once and leaves no row behind. Resolves with false if the database is read-only; rejects if it cannot write. */
export function tryWrite(database: Pick<Database, 'transaction'>): Promise<boolean> {
  return database.transaction(write)
}

/** Takes disk space for a temporary file, as a growing table would, and writes a record to the WAL. */
async function write(tx: Queryable): Promise<boolean> {
  const [state] = await tx.rows<{ writable: boolean }>(
    `select current_setting('transaction_read_only') = 'off' as writable, set_config('work_mem', '64kB', true)`,
  )
  if (state?.writable !== true) return false
  await tx.rows(`select count(*) from generate_series(1, ${probeRows})`)
  await tx.rows(`select pg_logical_emit_message(true, 'tollgate', 'ready')`)
  return true
}

async function inTime(probe: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), patience)
  try {
    return await Promise.race([probe, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
