import { randomUUID } from 'node:crypto'
import type { Database } from '../../src/platform/database/database.ts'
import { dayOf, type ModelKeyLimit } from './key-limit-model.ts'
import { monthOf, type createTillModel } from './till-model.ts'

type Model = ReturnType<typeof createTillModel>
export type LimitChange = Pick<ModelKeyLimit, 'requestsPerMinute' | 'tokensPerMinute' | 'dailyBudget' | 'monthlyBudget'>

/** Adds four keys, the last of which replaced the one before: those two share their limits. */
export async function addKeys(database: Database, account: string): Promise<string[]> {
  const ids = Array.from({ length: 4 }, () => randomUUID())
  for (const [index, id] of ids.entries()) {
    await database.rows(
      `insert into api_key (id, public_id, secret_hash, account_id, name) values ($1, $2, sha256($2::text::bytea), $3, $4)`,
      [id, id, account, `key ${index}`],
    )
  }
  await database.rows('update api_key set replaced_by = $2 where id = $1', [ids[2], ids[3]])
  return ids
}

interface Bucket {
  readonly perMinute: number | null
  readonly level: bigint
  readonly lent: bigint
}

const noBucket: Bucket = { perMinute: null, level: 0n, lent: 0n }

/** A bucket that gets its first limit is full; one whose limit changes has at most that. */
function levelAfter(before: Bucket, perMinute: number | null): bigint {
  const left = BigInt(perMinute ?? 0) - before.lent
  const full = left < 0n ? 0n : left * 60_000_000n
  return before.perMinute !== null && before.level < full ? before.level : full
}

/** The levels of both buckets after a change of the limits. */
function levelsAfter(known: ModelKeyLimit | undefined, to: LimitChange) {
  const requests = known && { perMinute: known.requestsPerMinute, level: known.requestLevel, lent: known.requestsLent }
  const tokens = known && { perMinute: known.tokensPerMinute, level: known.tokenLevel, lent: known.tokensLent }
  return {
    requestLevel: levelAfter(requests ?? noBucket, to.requestsPerMinute),
    tokenLevel: levelAfter(tokens ?? noBucket, to.tokensPerMinute),
  }
}

/** As keys.setLimits() does, but at a time of the test. */
export async function changeLimit(
  database: Database,
  model: Model,
  key: string,
  to: LimitChange,
  now: bigint,
): Promise<void> {
  const known = model.limits.get(key)
  const levels = levelsAfter(known, to)
  if (known) Object.assign(known, to, levels)
  const [shares] = await database.rows<{ ids: string[] }>(
    `select array_agg(k.id) as ids from api_key k
     where k.id = $1 or k.replaced_by = $1 or k.id = (select replaced_by from api_key where id = $1)`,
    [key],
  )
  const keys = shares?.ids ?? []
  const nothingLent = { creditLent: 0n, requestsLent: 0n, tokensLent: 0n, recalledAt: null }
  const fresh = { id: randomUUID(), ...to, ...levels, ...spentBy(model, keys, now), levelAt: now, ...nothingLent }
  const limit = known ?? fresh
  for (const each of keys) model.limits.set(each, limit)
  await write(database, limit, keys)
}

/** The keys' spending and holds, according to the model. */
function spentBy(model: Model, keys: readonly string[], now: bigint) {
  const since = (day: string) =>
    [...model.ledger.values()]
      .filter((row) => keys.includes(row.key) && dayOf(row.at) >= day)
      .reduce((sum, { cost }) => sum + cost, 0n)
  const held = [...model.holds.values()].filter((hold) => keys.includes(hold.key)).reduce((sum, h) => sum + h.cost, 0n)
  const [day, month] = [dayOf(now), monthOf(now)]
  return { held, day, dayCharged: since(day), month, monthCharged: since(month) }
}

async function write(database: Database, limit: ModelKeyLimit, keys: readonly string[]): Promise<void> {
  await database.rows(
    `insert into key_limit (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, monthly_budget, held, day,
       day_charged, month, month_charged, request_level, token_level, level_at)
     select $1, account_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, to_timestamp(0) + $13::bigint * interval '1 microsecond'
     from api_key where id = $14
     on conflict (id) do update set requests_per_minute = $2, tokens_per_minute = $3, daily_budget = $4, monthly_budget = $5,
       request_level = $11, token_level = $12`,
    [
      limit.id,
      limit.requestsPerMinute,
      limit.tokensPerMinute,
      limit.dailyBudget,
      limit.monthlyBudget,
      limit.held,
      limit.day,
      limit.dayCharged,
      limit.month,
      limit.monthCharged,
      limit.requestLevel,
      limit.tokenLevel,
      limit.levelAt,
      keys[0],
    ],
  )
  await database.rows('update api_key set limit_id = $1 where id = any($2)', [limit.id, keys])
  await database.rows(
    'update account set limits_keys = true where id = (select account_id from key_limit where id = $1)',
    [limit.id],
  )
}

export async function clearLimits(database: Database, model: Model, key: string): Promise<void> {
  const limit = model.limits.get(key)
  if (limit === undefined) return
  for (const [each, its] of model.limits) if (its === limit) model.limits.delete(each)
  for (const mine of model.keyAllowances.values()) mine.delete(limit)
  await database.rows('update api_key set limit_id = null where limit_id = $1', [limit.id])
  await database.rows('delete from key_limit where id = $1', [limit.id])
}

/** In the order of their ids. */
export function readLimits(database: Database, accounts: readonly string[]): Promise<ModelKeyLimit[]> {
  return database.rows(
    `select id, requests_per_minute as "requestsPerMinute", tokens_per_minute as "tokensPerMinute",
       daily_budget as "dailyBudget", monthly_budget as "monthlyBudget", held, day, day_charged as "dayCharged", month,
       month_charged as "monthCharged", request_level as "requestLevel", token_level as "tokenLevel",
       (extract(epoch from level_at) * 1000000)::bigint as "levelAt", credit_lent as "creditLent",
       requests_lent as "requestsLent", tokens_lent as "tokensLent",
       (extract(epoch from recalled_at) * 1000000)::bigint as "recalledAt"
     from key_limit where account_id = any($1) order by id`,
    [accounts],
  )
}
