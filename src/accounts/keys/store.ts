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
const limitColumns = `
  l.requests_per_minute as "requestsPerMinute", l.tokens_per_minute as "tokensPerMinute", l.daily_budget as "dailyBudget",
  l.monthly_budget as "monthlyBudget", (case when l.day = ${now} then l.day_charged when l.id is not null then 0 end)::amount as "dayCharged",
  (case when l.month = ${thisMonth} then l.month_charged when l.id is not null then 0 end)::amount as "monthCharged", l.held as "limitHeld"`

/**
 * Blocks the till on the key's account until the end of `tx`, in which nothing else may be locked before. All that was charged is in the
 * sums then, so that the limits can count it.
 */
export async function lockAccountOfKey(tx: Queryable, id: string): Promise<void> {
  await tx.rows('select fold_charges(null, array(select account_id from api_key where id = $1))', [id])
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

/** How long a scratch key is valid after its last use, and how long a revocation keeps its person from getting another one. */
const scratchLifetime = `interval '24 hours'`
/** The expiry is extended at most once an hour. */
const dueBelow = `interval '23 hours'`

/** The person's key, or the one whose revocation keeps them from getting another. It comes first. */
export async function readScratchKey(database: Queryable, of: ScratchKeyOf): Promise<ScratchKeyRow | undefined> {
  const [key] = await database.rows<ScratchKeyRow>(
    `select id, public_id as "publicId", revoked_at + ${scratchLifetime} as "replaceableAt",
       expires_at < clock_timestamp() + ${dueBelow} as "isDue"
     from api_key where person_id = $1 and account_id = $2
       and (revoked_at is null or revoked_at > clock_timestamp() - ${scratchLifetime})
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
     values ($1, $2, $3, $4, $5, $6, clock_timestamp() + ${scratchLifetime})
     on conflict (person_id, account_id) where person_id is not null and revoked_at is null do nothing returning 1`,
    [key.personId, key.accountId, key.id, key.publicId, key.secretHash, key.name],
  )
  return rows.length > 0
}

/** Makes a scratch key valid for its whole lifetime again. */
export async function renewScratchKey(database: Queryable, { id }: Pick<ScratchKeyRow, 'id'>): Promise<void> {
  await database.rows(
    `update api_key set expires_at = clock_timestamp() + ${scratchLifetime} where id = $1 and revoked_at is null`,
    [id],
  )
}

/** A key as `identify` needs it. Times are the database's, so that no two instances disagree about an expiry. */
export interface KeyRow {
  readonly id: string
  readonly publicId: string
  readonly secretHash: Buffer
  readonly accountId: string | null
  readonly accountOpen: boolean
  /** Whether the account is the firm's own. */
  readonly own: boolean
  readonly allowedModels: readonly string[] | null
  /** The id of its own limits; null without any. */
  readonly limitId: string | null
  /** Whether the account has budgets. */
  readonly hasBudgets: boolean
  readonly revoked: boolean
  /** Milliseconds from now; null: never. */
  readonly expiresIn: number | null
}

export function readKeys(database: Queryable, publicIds: readonly string[]): Promise<KeyRow[]> {
  return database.rows({
    name: 'keys_by_public_id',
    text: `select k.id, public_id as "publicId", secret_hash as "secretHash", account_id as "accountId",
             coalesce(a.status = 'open', false) as "accountOpen", coalesce(a.own, false) as own, allowed_models as "allowedModels",
             limit_id as "limitId", coalesce(a.has_budgets, false) as "hasBudgets", revoked_at is not null as revoked,
             (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresIn"
           from api_key k left join account a on a.id = k.account_id
           where public_id = any($1)`,
    values: [publicIds],
  })
}

export interface NewKeyRow {
  readonly id: string
  readonly publicId: string
  readonly secretHash: Buffer
  readonly accountId: string | null
  readonly name: string
  readonly allowedModels: readonly string[] | null
  readonly expiresAt: Date | null
}

/** False if a key has the id. */
export async function insertKey(database: Queryable, key: NewKeyRow): Promise<boolean> {
  const rows = await database.rows(
    `insert into api_key (id, public_id, secret_hash, account_id, name, allowed_models, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing returning 1`,
    [key.id, key.publicId, key.secretHash, key.accountId, key.name, key.allowedModels, key.expiresAt],
  )
  return rows.length > 0
}

/** A key without its secret, for display. */
export interface KeySummary extends KeyLimits, KeySpending {
  readonly id: string
  readonly publicId: string
  readonly name: string
  readonly accountId: string | null
  /** The person whose scratch key it is. */
  readonly personId: string | null
  readonly allowedModels: readonly string[] | null
  readonly status: 'valid' | 'expired' | 'revoked'
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** The key that replaced it. */
  readonly replacedBy: string | null
  /** To the minute. */
  readonly lastUsedAt: Date | null
}

const selectKey = `
  select k.id, public_id as "publicId", name, k.account_id as "accountId", person_id as "personId", allowed_models as "allowedModels",
    case when revoked_at is not null then 'revoked' when expires_at <= clock_timestamp() then 'expired' else 'valid'
      end as status,
    created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", replaced_by as "replacedBy",
    last_used_at as "lastUsedAt", ${limitColumns}
  from api_key k left join key_limit l on l.id = k.limit_id`

/** The keys of one account, or of all, in the order of creation. */
export function readKeySummaries(database: Queryable, accountId?: string): Promise<KeySummary[]> {
  return database.rows(`${selectKey} where $1::uuid is null or k.account_id = $1 order by created_at, k.id`, [
    accountId ?? null,
  ])
}

export async function readKeySummary(database: Queryable, id: string): Promise<KeySummary | undefined> {
  const [key] = await database.rows<KeySummary>(`${selectKey} where k.id = $1`, [id])
  return key
}

/** Locks the key against other rotations and revocations until the transaction ends. */
export async function lockKey(tx: Queryable, id: string): Promise<KeySummary | undefined> {
  const [key] = await tx.rows<KeySummary>(`${selectKey} where k.id = $1 for no key update of k`, [id])
  return key
}

/** The old key expires after the overlap, or earlier if it was due to. The new one shares its limits. */
export async function replaceKey(tx: Queryable, ids: { old: string; new: string }, overlapMs: number): Promise<void> {
  await tx.rows(
    `update api_key set replaced_by = $2,
       expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $3::float8 / 1000))
     where id = $1`,
    [ids.old, ids.new, overlapMs],
  )
  await tx.rows('update api_key set limit_id = (select limit_id from api_key where id = $1) where id = $2', [
    ids.old,
    ids.new,
  ])
}

export async function markRevoked(tx: Queryable, id: string): Promise<void> {
  await tx.rows('update api_key set revoked_at = now() where id = $1', [id])
}

/** Takes how many ms ago each key was used. Writes a row at most once a minute. */
export async function writeLastUsed(
  database: Queryable,
  used: { readonly ids: readonly string[]; readonly agesMs: readonly number[] },
): Promise<void> {
  // Locks the rows in order of their ids, because other instances write the same rows.
  await database.rows(
    `with used as (
       select id, date_trunc('minute', clock_timestamp() - make_interval(secs => age / 1000)) as minute
       from unnest($1::uuid[], $2::float8[]) as u(id, age)
     ), due as (
       select k.id, used.minute from api_key k join used on used.id = k.id
       where k.last_used_at is null or k.last_used_at < used.minute
       order by k.id for no key update of k
     )
     update api_key set last_used_at = due.minute from due where api_key.id = due.id`,
    [used.ids, used.agesMs],
  )
}
