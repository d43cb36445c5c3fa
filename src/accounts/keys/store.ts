import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../platform/database/database.ts'

/** What a key may use, besides the limits and the credit of its account. Null: only those. Budgets are in 10⁻¹² of the unit. */
export interface KeyLimits {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  /** The most that it may spend on a day, and in a calendar month (UTC). */
  readonly dailyBudget: bigint | null
  readonly monthlyBudget: bigint | null
}

/** What was spent of the budgets. Null for a key without limits of its own. */
export interface KeySpending {
  readonly dayCharged: bigint | null
  readonly monthCharged: bigint | null
  /** The maximum cost of its requests in flight. */
  readonly limitHeld: bigint | null
}

const now = `(clock_timestamp() at time zone 'UTC')::date`
const thisMonth = `date_trunc('month', clock_timestamp() at time zone 'UTC')::date`

/** The columns of a key in a query that joins `key_limit l`. */
export const limitColumns = `
  l.requests_per_minute as "requestsPerMinute", l.tokens_per_minute as "tokensPerMinute", l.daily_budget as "dailyBudget",
  l.monthly_budget as "monthlyBudget", (case when l.day = ${now} then l.day_charged when l.id is not null then 0 end)::amount as "dayCharged",
  (case when l.month = ${thisMonth} then l.month_charged when l.id is not null then 0 end)::amount as "monthCharged", l.held as "limitHeld"`

/** Blocks the till on the key's account until the end of `tx`. Lock the account before the key. */
export async function lockAccountOfKey(tx: Queryable, id: string): Promise<void> {
  await tx.rows('select 1 from account where id = (select account_id from api_key where id = $1) for no key update', [
    id,
  ])
}

/**
 * Sets the limits of a key and of the keys that it replaced or that replaced it. The account must be locked. A new limit begins
 * with a full bucket; requests that a key has in flight and what it spent before count towards its budgets.
 */
export async function writeKeyLimits(tx: Queryable, id: string, limits: KeyLimits): Promise<void> {
  const values = [id, limits.requestsPerMinute, limits.tokensPerMinute, limits.dailyBudget, limits.monthlyBudget]
  const updated = await tx.rows(
    `update key_limit set requests_per_minute = $2::integer, tokens_per_minute = $3::integer, daily_budget = $4, monthly_budget = $5,
       request_level = ${levelAfter('requests', '$2')}, token_level = ${levelAfter('tokens', '$3')}
     where id = (select limit_id from api_key where id = $1) returning 1`,
    values,
  )
  if (updated.length > 0) return
  // A new id: what instances still have in allowances under an earlier one must not count.
  const limitId = randomUUID()
  await tx.rows(
    `insert into key_limit (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, monthly_budget, held, day,
       day_charged, month, month_charged, request_level, token_level)
     select $6::uuid, account_id, $2::integer, $3::integer, $4, $5, 0, ${now}, 0, ${thisMonth}, 0, coalesce($2::integer * 60000000::bigint, 0),
       coalesce($3::integer * 60000000::bigint, 0)
     from api_key where id = $1`,
    [...values, limitId],
  )
  await tx.rows(
    `with recursive chain as (
       select id, replaced_by from api_key where id = $1
       union
       select k.id, k.replaced_by from api_key k join chain c on k.replaced_by = c.id or k.id = c.replaced_by)
     update api_key set limit_id = $2 where id in (select id from chain)`,
    [id, limitId],
  )
  await tx.rows(
    `update key_limit set day_charged = key_charged_since(id, day), month_charged = key_charged_since(id, month),
       held = (select coalesce(sum(cost), 0) from hold where key_id in (select k.id from api_key k where k.limit_id = $1))
     where id = $1`,
    [limitId],
  )
  await tx.rows('update account set limits_keys = true where id = (select account_id from key_limit where id = $1)', [
    limitId,
  ])
}

/** A bucket that gets its first limit is full; one whose limit changes has at most that. What instances have of it is not in it. */
const levelAfter = (kind: 'requests' | 'tokens', to: string) => `coalesce(least(
  greatest(0, ${to}::integer - ${kind}_lent) * 60000000::bigint, case when ${kind}_per_minute is not null then ${kind === 'requests' ? 'request' : 'token'}_level end), 0)`

/** Leaves the key, and those that share its limits, with those of the account. The account must be locked. */
export async function deleteKeyLimits(tx: Queryable, id: string): Promise<void> {
  const [limit] = await tx.rows<{ id: string; accountId: string }>(
    `select l.id, l.account_id as "accountId" from api_key k join key_limit l on l.id = k.limit_id where k.id = $1`,
    [id],
  )
  if (limit === undefined) return
  await tx.rows('update api_key set limit_id = null where limit_id = $1', [limit.id])
  await tx.rows('delete from key_limit where id = $1', [limit.id])
  await tx.rows('update account set limits_keys = exists (select from key_limit where account_id = $1) where id = $1', [
    limit.accountId,
  ])
}

/** The person and the account of a scratch key. */
interface ScratchKeyOf {
  readonly personId: string
  readonly accountId: string
}

export interface ScratchKeyRow {
  readonly id: string
  readonly publicId: string
  /** When the person can get another key; null: it is not revoked. */
  readonly replaceableAt: Date | null
  /** Whether its expiry must be extended. */
  readonly isDue: boolean
}

/** How long a key is valid after its last use, and how long a revocation keeps its person from getting another one. */
const lifetime = `interval '24 hours'`
/** The expiry is extended at most once an hour. */
const dueBelow = `interval '23 hours'`

/** The person's key, or the one whose revocation keeps them from getting another. It comes first. */
export async function readScratchKey(database: Queryable, of: ScratchKeyOf): Promise<ScratchKeyRow | undefined> {
  const [key] = await database.rows<ScratchKeyRow>(
    `select id, public_id as "publicId", revoked_at + ${lifetime} as "replaceableAt",
       expires_at < clock_timestamp() + ${dueBelow} as "isDue"
     from api_key where person_id = $1 and account_id = $2
       and (revoked_at is null or revoked_at > clock_timestamp() - ${lifetime})
     order by revoked_at desc nulls last limit 1`,
    [of.personId, of.accountId],
  )
  return key
}

interface NewScratchKey extends ScratchKeyOf {
  readonly id: string
  readonly publicId: string
  readonly secretHash: Buffer
  readonly name: string
}

/** False if the person has a key. */
export async function insertScratchKey(tx: Queryable, key: NewScratchKey): Promise<boolean> {
  const rows = await tx.rows(
    `insert into api_key (person_id, account_id, id, public_id, secret_hash, name, expires_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + ${lifetime})
     on conflict (person_id, account_id) where person_id is not null and revoked_at is null do nothing returning 1`,
    [key.personId, key.accountId, key.id, key.publicId, key.secretHash, key.name],
  )
  return rows.length > 0
}

/** Makes it valid for its whole lifetime again. */
export async function renewScratchKey(database: Queryable, { id }: Pick<ScratchKeyRow, 'id'>): Promise<void> {
  await database.rows(
    `update api_key set expires_at = clock_timestamp() + ${lifetime} where id = $1 and revoked_at is null`,
    [id],
  )
}
