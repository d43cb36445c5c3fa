import type { Queryable } from '../../platform/database/database.ts'

export interface ThrottleKey {
  readonly kind: string
  /** A hash. */
  readonly key: Buffer
}

export interface Use {
  readonly most: number
  readonly now: Date
  /** Uses after this time count. */
  readonly since: Date
  readonly expiresAt: Date
}

/** Adds a use unless the limit is reached, which concurrent calls do not exceed either. Returns whether it was added. */
export async function insertUse(database: Queryable, { kind, key }: ThrottleKey, use: Use): Promise<boolean> {
  const rows = await database.rows({
    name: 'throttle_use',
    text: `insert into throttle as t (kind, key, taken, expires_at)
     select $1, $2::bytea, array[$3::timestamptz], $4::timestamptz from ${unflushed}
     on conflict (kind, key) do update
       set taken = array(select used from unnest(t.taken) used where used > $5) || $3, expires_at = greatest(t.expires_at, $4)
       where (select count(*) from unnest(t.taken) used where used > $5) < $6
     returning 1`,
    values: [kind, key, use.now, use.expiresAt, use.since, use.most],
  })
  return rows.length > 0
}

export interface ThrottleState {
  /** Every use that counted when the row was last written, oldest first. */
  readonly taken: readonly Date[]
  readonly failures: number
  readonly failedAt: Date | null
}

export async function readThrottle(
  database: Queryable,
  { kind, key }: ThrottleKey,
  now: Date,
): Promise<ThrottleState | undefined> {
  const [row] = await database.rows<ThrottleState>({
    name: 'throttle_read',
    text: `select array(select used from unnest(taken) used order by used) as taken, failures, failed_at as "failedAt"
     from throttle where kind = $1 and key = $2 and expires_at > $3`,
    values: [kind, key, now],
  })
  return row
}

/** Adds a failure; returns how many there are. A row that has expired counts from the start. */
export async function insertFailure(
  database: Queryable,
  { kind, key }: ThrottleKey,
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<number> {
  const [row] = await database.rows<{ failures: number }>({
    name: 'throttle_failure',
    text: `insert into throttle as t (kind, key, failures, failed_at, expires_at)
     select $1, $2::bytea, 1, $3::timestamptz, $4::timestamptz from ${unflushed}
     on conflict (kind, key) do update
       set failures = case when t.expires_at > $3 then t.failures else 0 end + 1, failed_at = $3, expires_at = $4
     returning failures`,
    values: [kind, key, now, expiresAt],
  })
  return row?.failures ?? 1
}

export async function deleteThrottle(database: Queryable, { kind, key }: ThrottleKey): Promise<void> {
  await database.rows('delete from throttle where kind = $1 and key = $2', [kind, key])
}

/**
 * A table expression for a statement that counts something: its transaction commits without waiting for the disk. Otherwise
 * a flood of guesses would keep the disk busy, and every read, which waits for its audit row. The count is there at once;
 * a crash of the database server may lose those of the last second.
 */
export const unflushed = `(select set_config('synchronous_commit', 'off', true)) unflushed`
