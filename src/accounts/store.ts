import type { Queryable } from '../platform/database/database.ts'
import type { Account, BillingDetails, CreditEntry, GrantedAccount, NewAccount, NewLimits } from './account.ts'

// The till resets the month's charges at the account's next call; until then, those of the old month are still stored.
const monthCharged = `case when month = date_trunc('month', now() at time zone 'UTC')::date then month_charged else 0 end`
const selectGranted = `
  select id, name, status, requests_per_minute as "requestsPerMinute", tokens_per_minute as "tokensPerMinute",
    monthly_limit as "monthlyLimit", credited, charged, (${monthCharged})::amount as "monthCharged", held,
    greatest(0, coalesce(monthly_limit - ${monthCharged}, credited - charged) - held) as "creditLeft",
    created_at as "createdAt", closed_at as "closedAt",
    (select max(last_used_at) from api_key where account_id = account.id) as "lastUsedAt"`
const selectAccount = `${selectGranted}, own, json_build_object('name', billing_name, 'address', billing_address,
    'taxNumber', billing_tax_number, 'email', billing_email) as billing
  from account`

/** Those of the accounts that exist, in order of creation. `ids` are UUIDs. */
export function readGrantedAccounts(database: Queryable, ids: readonly string[]): Promise<GrantedAccount[]> {
  return database.rows(`${selectGranted} from account where id = any($1::text::uuid[]) order by created_at, id`, [
    `{${ids.join()}}`,
  ])
}

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
