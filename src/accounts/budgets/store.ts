import type { Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import type { Budget, BudgetState, BudgetTag } from './budget.ts'

/** The columns of `BudgetState` in a query of `budget b` with the moment `n.now`. The till writes a row only when requests count in it. */
const stateColumns = `
  (b.amount + case when b.raised_until > n.now then b.raised_by else 0 end)::amount as "limit", b.held,
  (case when n.now >= b.began_at and n.now < b.ends_at then b.charged else 0 end)::amount as charged,
  nullif(p.ends_at, 'infinity') as "renewsAt"`
const joinMoment = `
  cross join (select clock_timestamp() as now) n
  cross join lateral budget_period(b.period, b.time_zone, n.now) p`

const selectBudget = (tagValue: 'b.tag_value' | 'null::text') => `
  select b.id, b.account_id as "accountId", b.name, b.period, b.time_zone as "timeZone", b.hard, b.amount,
    case when b.tag_name is not null then json_build_object('name', b.tag_name, 'value', ${tagValue}) end as tag,
    case when b.tag_name is null then array(select key_id from budget_key where budget_id = b.id order by key_id) end as keys,
    case when b.raised_until > n.now then b.raised_by end as "raisedBy", b.raised_until as "raisedUntil", b.created_at as "createdAt",
    ${stateColumns}
  from budget b ${joinMoment}`

interface BudgetRow extends Omit<Budget, 'raise'> {
  readonly raisedBy: bigint | null
  readonly raisedUntil: Date | null
}

const budgetIn = ({ raisedBy, raisedUntil, ...budget }: BudgetRow): Budget => ({
  ...budget,
  raise: raisedBy === null || raisedUntil === null ? null : { by: raisedBy, until: raisedUntil },
})

/** The budgets of an account by name. A developer may not read the values of tags, which may have a customer's text. */
export async function readBudgets(
  database: Queryable,
  accountId: string,
  { values = true }: { readonly values?: boolean } = {},
): Promise<Budget[]> {
  const select = selectBudget(values ? 'b.tag_value' : 'null::text')
  const rows = await database.rows<BudgetRow>(`${select} where b.account_id = $1 order by lower(b.name), b.id`, [
    accountId,
  ])
  return rows.map(budgetIn)
}

export async function readBudget(database: Queryable, id: string): Promise<Budget | undefined> {
  const [row] = await database.rows<BudgetRow>(`${selectBudget('b.tag_value')} where b.id = $1`, [id])
  return row && budgetIn(row)
}

/** In any case. */
export async function readBudgetNamed(
  database: Queryable,
  { accountId, name }: Pick<Budget, 'accountId' | 'name'>,
): Promise<Budget | undefined> {
  const [row] = await database.rows<BudgetRow>(
    `${selectBudget('b.tag_value')} where b.account_id = $1 and ${comparable('b.name')} = ${comparable('$2')}`,
    [accountId, name],
  )
  return row && budgetIn(row)
}

/** The expression of the unique index on names. */
const comparable = (name: string) => `lower(normalize(${name}, nfkc))`

/**
 * Blocks the till on an account until the end of `tx`, in which nothing else may be locked before. All that was charged is in the sums
 * then, so that a budget can count it.
 */
export async function lockAccount(tx: Queryable, accountId: string): Promise<void> {
  await tx.rows('select fold_charges(null, array[$1::uuid])', [accountId])
}

/** A key that is to join a budget. */
export interface JoiningKey {
  readonly id: string
  readonly name: string
  readonly accountId: string | null
  readonly isScratch: boolean
  readonly status: 'valid' | 'expired' | 'revoked'
}

export function readJoiningKeys(tx: Queryable, ids: readonly string[]): Promise<JoiningKey[]> {
  return tx.rows(
    `select id, name, account_id as "accountId", person_id is not null as "isScratch",
       case when revoked_at is not null then 'revoked' when expires_at <= clock_timestamp() then 'expired' else 'valid' end as status
     from api_key where id = any($1)`,
    [ids.filter(isUuid)],
  )
}

export type NewBudgetRow = Pick<
  Budget,
  'id' | 'accountId' | 'name' | 'tag' | 'keys' | 'period' | 'timeZone' | 'hard' | 'amount'
>

/** What a budget was charged in its current period on the days (UTC) before `before`. */
export interface EarlierCharges {
  readonly beganAt: string
  readonly before: string
  readonly charged: bigint
}

/**
 * Reads what requests with these keys or this tag cost before yesterday (UTC), which may be years, before the account is locked: nothing is
 * added to those days once the charges are folded.
 */
export async function readEarlierCharges(
  database: Queryable,
  { accountId, tag, keys, period, timeZone }: Pick<Budget, 'accountId' | 'tag' | 'keys' | 'period' | 'timeZone'>,
): Promise<EarlierCharges> {
  const [row] = await database.rows<EarlierCharges>(
    `select p.began_at::text as "beganAt", d.before::text as before,
       budget_charged(jsonb_populate_record(null::budget, $1), p.began_at, d.before, $4)::amount as charged
     from (select (clock_timestamp() at time zone 'UTC')::date - 1 as before offset 0) d, budget_period($2, $3, clock_timestamp()) p`,
    [
      JSON.stringify({ account_id: accountId, tag_name: tag?.name, tag_value: tag?.value }),
      period,
      timeZone,
      (keys ?? []).filter(isUuid),
    ],
  )
  if (row === undefined) throw new Error('a sum has one row')
  return row
}

/** Whether a budget had this id and was removed. */
export async function wasRemoved(tx: Queryable, id: string): Promise<boolean> {
  const found = await tx.rows(`select from recorded_change where table_name = 'budget' and row_key = $1 limit 1`, [id])
  return found.length > 0
}

/** The account must be locked. False if the id or the name is taken. */
export async function insertBudget(tx: Queryable, budget: NewBudgetRow, earlier: EarlierCharges): Promise<boolean> {
  const { id, accountId, name, tag, keys, period, timeZone, hard, amount } = budget
  const inserted = await tx.rows(
    `insert into budget (id, account_id, name, tag_name, tag_value, period, time_zone, hard, amount, began_at, ends_at, charged, held)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, p.began_at, p.ends_at, 0, 0 from budget_period($6, $7, clock_timestamp()) p
     on conflict do nothing returning 1`,
    [id, accountId, name, tag?.name ?? null, tag?.value ?? null, period, timeZone, hard, amount],
  )
  if (inserted.length === 0) return false
  await replaceKeys(tx, id, keys ?? [], earlier)
  await tx.rows('update account set has_budgets = true where id = $1', [accountId])
  return true
}

/** The account must be locked. Throws the driver's error if another budget of the account has the name. */
export async function updateBudget(
  tx: Queryable,
  { id, name, hard, amount }: Pick<Budget, 'id' | 'name' | 'hard' | 'amount'>,
): Promise<void> {
  await tx.rows('update budget set name = $2, hard = $3, amount = $4 where id = $1', [id, name, hard, amount])
}

/** The account must be locked. Null ends the raise. */
export async function writeRaise(tx: Queryable, id: string, raise: Budget['raise']): Promise<void> {
  await tx.rows('update budget set raised_by = $2, raised_until = $3 where id = $1', [
    id,
    raise?.by ?? null,
    raise?.until ?? null,
  ])
}

/** The account must be locked. */
export async function deleteBudget(tx: Queryable, { id, accountId }: Pick<Budget, 'id' | 'accountId'>): Promise<void> {
  await tx.rows('delete from budget where id = $1', [id])
  await tx.rows('update account set has_budgets = exists (select from budget where account_id = $1) where id = $1', [
    accountId,
  ])
  await tx.rows(
    'delete from tagged_hold where account_id in (select id from account where id = $1 and not has_budgets)',
    [accountId],
  )
}

/** A key that replaces another one joins its budgets. The account must be locked. */
export async function joinBudgetsOf(tx: Queryable, ids: { readonly old: string; readonly new: string }): Promise<void> {
  await tx.rows('insert into budget_key (budget_id, key_id) select budget_id, $2 from budget_key where key_id = $1', [
    ids.old,
    ids.new,
  ])
}

/**
 * Replaces the keys of a budget, and computes the charges and holds of its requests in this period anew. The account must be locked, and
 * `earlier` be of these keys, or of the tag.
 */
export async function replaceKeys(
  tx: Queryable,
  id: string,
  keys: readonly string[],
  { beganAt, before, charged }: EarlierCharges,
): Promise<void> {
  await tx.rows('delete from budget_key where budget_id = $1 and key_id <> all($2)', [id, keys])
  await tx.rows(
    'insert into budget_key (budget_id, key_id) select $1, key from unnest($2::uuid[]) key on conflict do nothing',
    [id, keys],
  )
  await tx.rows(
    `update budget set began_at = s.began_at, ends_at = s.ends_at, charged = s.charged, held = s.held, last_charged_at = clock_timestamp()
     from (
       select p.began_at, p.ends_at,
         -- A period may have begun since the earlier charges were read.
         case when p.began_at = $2::timestamptz
           then $4::numeric + budget_charged(b, greatest(p.began_at, $3::date::timestamp at time zone 'UTC'))
           else budget_charged(b, p.began_at) end as charged,
         (select coalesce(sum(cost), 0) from hold h where h.account_id = b.account_id
           and b.id in (select budgets_of(h.account_id, h.key_id, (select tags from tagged_hold where hold_id = h.id))))
         + (select coalesce(sum(a.held), 0) from budget_allowance a where a.budget_id = b.id) as held
       from budget b cross join lateral budget_period(b.period, b.time_zone, clock_timestamp()) p where b.id = $1
     ) s where id = $1`,
    [id, beganAt, before, String(charged)],
  )
}

/** A budget as callers need it. */
export interface KnownBudgetRow extends BudgetState {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly tag: BudgetTag | null
  /** Those that were asked for. */
  readonly keys: readonly string[]
}

/**
 * The hard budgets of tags of these accounts, and those that any of the keys share, as of the last charge that is in the sums. Instances
 * read this twice a second: it does not take longer the more other keys share them.
 */
export function readHardBudgets(
  database: Queryable,
  accountIds: readonly string[],
  keyIds: readonly string[],
): Promise<KnownBudgetRow[]> {
  return database.rows({
    name: 'hard_budgets',
    text: `select b.id, b.account_id as "accountId", b.name,
             case when b.tag_name is not null then json_build_object('name', b.tag_name, 'value', b.tag_value) end as tag,
             coalesce(k.keys, '{}') as keys, ${stateColumns}
           from budget b left join (select budget_id, array_agg(key_id) as keys from budget_key where key_id = any($2) group by budget_id) k
             on k.budget_id = b.id ${joinMoment}
           where b.account_id = any($1) and b.hard and (b.tag_name is not null or k.keys is not null) order by b.id`,
    values: [accountIds, keyIds],
  })
}
