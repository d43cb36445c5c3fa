import type { Queryable } from '../platform/database/database.ts'
import type { Account, BillingDetails, CreditEntry, NewAccount, NewLimits } from './account.ts'
import { limitColumns, type KeyLimits, type KeySpending } from './keys/store.ts'

// The till resets the month's charges at the account's next call; until then, those of the old month are still stored.
const monthCharged = `case when month = date_trunc('month', now() at time zone 'UTC')::date then month_charged else 0 end`
const selectAccount = `
  select id, name, status, own, requests_per_minute as "requestsPerMinute", tokens_per_minute as "tokensPerMinute",
    monthly_limit as "monthlyLimit", json_build_object('name', billing_name, 'address', billing_address,
      'taxNumber', billing_tax_number, 'email', billing_email) as billing, credited, charged, (${monthCharged})::amount as "monthCharged", held,
    greatest(0, coalesce(monthly_limit - ${monthCharged}, credited - charged) - held) as "creditLeft",
    created_at as "createdAt", closed_at as "closedAt",
    (select max(last_used_at) from api_key where account_id = account.id) as "lastUsedAt"
  from account`

export async function readAccount(database: Queryable, id: string): Promise<Account | undefined> {
  const [account] = await database.rows<Account>(`${selectAccount} where id = $1`, [id])
  return account
}

export function readAccounts(database: Queryable): Promise<Account[]> {
  return database.rows(`${selectAccount} order by created_at, id`)
}

/** In any case. */
export async function readAccountNamed(database: Queryable, name: string): Promise<Account | undefined> {
  const [account] = await database.rows<Account>(`${selectAccount} where ${comparable('name')} = ${comparable('$1')}`, [
    name,
  ])
  return account
}

/** The expression of the unique index on names. */
const comparable = (name: string) => `lower(normalize(${name}, nfkc))`

/** False if another account has the name or the id. */
export async function insertAccount(tx: Queryable, account: NewAccount & { readonly id: string }): Promise<boolean> {
  const rows = await tx.rows(
    `insert into account
       (id, name, requests_per_minute, tokens_per_minute, monthly_limit, request_level, token_level, own)
     values ($1, $2, $3::integer, $4::integer, $5, $3::integer::bigint * 60000000, $4::integer::bigint * 60000000, $6)
     on conflict do nothing returning 1`,
    [
      account.id,
      account.name,
      account.requestsPerMinute,
      account.tokensPerMinute,
      account.monthlyLimit ?? null,
      account.own ?? false,
    ],
  )
  return rows.length > 0
}

/** Waits for a till call on this account to end, and blocks others until the end of `tx`. */
export async function lockAccount(tx: Queryable, id: string): Promise<void> {
  await tx.rows('select 1 from account where id = $1 for no key update', [id])
}

export interface NewCreditEntry {
  readonly id: string
  readonly accountId: string
  readonly amount: bigint
  readonly note: string
}

export async function insertCredit(tx: Queryable, entry: NewCreditEntry): Promise<void> {
  await tx.rows('insert into credit_entry (id, account_id, amount, note) values ($1, $2, $3, $4)', [
    entry.id,
    entry.accountId,
    entry.amount,
    entry.note,
  ])
  await tx.rows('update account set credited = credited + $2 where id = $1', [entry.accountId, entry.amount])
}

export async function readCreditEntry(tx: Queryable, id: string): Promise<NewCreditEntry | undefined> {
  const [entry] = await tx.rows<NewCreditEntry>(
    'select id, account_id as "accountId", amount, note from credit_entry where id = $1',
    [id],
  )
  return entry
}

/** Newest first: those before the entry with the number `before`, or all. */
export function readCredit(
  database: Queryable,
  search: { readonly accountId: string; readonly before: bigint | null; readonly limit: number },
): Promise<CreditEntry[]> {
  return database.rows(
    `select number, id, at, amount, note from credit_entry
     where account_id = $1 and ($2::bigint is null or number < $2) order by number desc limit $3`,
    [search.accountId, search.before, search.limit],
  )
}

/** Recalls the allowances of credit if they exceed `most`. Returns whether they do. */
export async function recallCredit(tx: Queryable, account: { readonly id: string; readonly most: bigint }) {
  const rows = await tx.rows(
    'update account set recalled_at = clock_timestamp() where id = $1 and credit_lent > $2 returning 1',
    [account.id, account.most],
  )
  return rows.length > 0
}

/** The account must be locked. Its buckets refill at the new rates from now. */
export async function updateLimits(tx: Queryable, id: string, limits: NewLimits): Promise<void> {
  await tx.rows(
    `update account set requests_per_minute = coalesce($2, requests_per_minute),
       tokens_per_minute = coalesce($3, tokens_per_minute), monthly_limit = coalesce($4, monthly_limit),
       request_level = least(request_level, coalesce($2, requests_per_minute) * 60000000::bigint),
       token_level = least(token_level, coalesce($3, tokens_per_minute) * 60000000::bigint)
     where id = $1`,
    [id, limits.requestsPerMinute ?? null, limits.tokensPerMinute ?? null, limits.monthlyLimit ?? null],
  )
}

/** Returns whether this changed it. */
export async function setOwn(tx: Queryable, id: string, own: boolean): Promise<boolean> {
  const rows = await tx.rows('update account set own = $2 where id = $1 and own <> $2 returning 1', [id, own])
  return rows.length > 0
}

/** Throws the driver's error if another account has the name. */
export async function renameAccount(tx: Queryable, id: string, name: string): Promise<void> {
  await tx.rows('update account set name = $2 where id = $1', [id, name])
}

export async function updateBilling(tx: Queryable, id: string, to: BillingDetails): Promise<void> {
  await tx.rows(
    'update account set billing_name = $2, billing_address = $3, billing_tax_number = $4, billing_email = $5 where id = $1',
    [id, to.name, to.address, to.taxNumber, to.email],
  )
}

export async function closeAccount(database: Queryable, id: string): Promise<void> {
  await database.rows(`update account set status = 'closed', closed_at = now() where id = $1 and status = 'open'`, [id])
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
  readonly revoked: boolean
  /** Milliseconds from now; null: never. */
  readonly expiresIn: number | null
}

export function readKeys(database: Queryable, publicIds: readonly string[]): Promise<KeyRow[]> {
  return database.rows({
    name: 'keys_by_public_id',
    text: `select k.id, public_id as "publicId", secret_hash as "secretHash", account_id as "accountId",
             coalesce(a.status = 'open', false) as "accountOpen", coalesce(a.own, false) as own, allowed_models as "allowedModels",
             limit_id as "limitId", revoked_at is not null as revoked,
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
