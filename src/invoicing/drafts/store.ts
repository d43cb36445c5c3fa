import type { Queryable } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import type { BuyerPlace } from '../document.ts'

/** A client or an account, as the buyer that a draft has if it states none. */
export interface PayerRow {
  readonly id: string
  readonly name: string
  readonly buyer_name: string
  readonly buyer_address: string | null
  readonly buyer_tax_number: string | null
  /** Where the invoices of a client go, if that is not its postal address; null for an account. */
  readonly buyer_place: BuyerPlace | null
  readonly buyer_reference: string | null
  readonly order_number: string | null
  readonly days_to_pay: number | null
  readonly language: string | null
}

/** At most one row. */
export function readPayer(kind: 'client' | 'account', id: string): PreparedStatement<PayerRow> {
  return {
    name: `payer ${kind}`,
    text:
      kind === 'client'
        ? `select id, name, name as buyer_name, address as buyer_address, vat_number as buyer_tax_number,
             json_build_object('street', billing_street, 'extra', billing_extra, 'postcode', billing_postcode,
               'city', billing_city, 'country', billing_country) as buyer_place,
             buyer_reference, order_number, days_to_pay, billing_language as language
           from client where id = $1 and deleted_at is null`
        : `select id, name, coalesce(billing_name, name) as buyer_name, billing_address as buyer_address,
             billing_tax_number as buyer_tax_number, null as buyer_place, null as buyer_reference, null as order_number,
             null as days_to_pay, null as language from account where id = $1`,
    values: [id],
  }
}

/** A past month in which an account used something, with the cost of that in 10⁻¹² of the currency unit. */
export interface UnbilledMonth {
  /** `2026-03`. */
  readonly month: string
  readonly cost: bigint
}

/** The unbilled months of an account, newest first. */
export function readUnbilledMonths(database: Queryable, accountId: string): Promise<UnbilledMonth[]> {
  return database.rows(
    `select to_char(u.month, 'YYYY-MM') as month, u.cost
     from (select date_trunc('month', day)::date as month, sum(cost) as cost from usage_day
       where account_id = $1 and day < date_trunc('month', (now() - interval '1 hour') at time zone 'UTC') group by 1) u
     where not exists (select from billed_month b where b.account_id = $1 and b.month = u.month)
       and not exists (select from account a where a.id = $1 and a.own)
     order by u.month desc limit 120`,
    [accountId],
  )
}

interface UsedTokens {
  readonly model: string
  readonly inputTokens: bigint
  readonly outputTokens: bigint
  readonly cachedTokens: bigint
  readonly cacheWriteTokens: bigint
}

/**
 * What an account used of a model in a month, at one price. Prices are in 10⁻¹² of the currency unit per token; that of a
 * cached token or a cache write is null where it is charged as input.
 */
export interface PricedUsage extends UsedTokens {
  readonly inputPrice: bigint
  readonly outputPrice: bigint
  readonly cachedPrice: bigint | null
  readonly cacheWritePrice: bigint | null
}

/** The same from the roll-ups: `inputPrice` and `outputPrice` are null unless one price can have applied. */
export interface MonthUsage extends UsedTokens {
  readonly cost: bigint
  readonly inputPrice: bigint | null
  readonly outputPrice: bigint | null
  readonly cachedPrice: bigint | null
  readonly cacheWritePrice: bigint | null
}

/**
 * The usage of accounts in a month, which is given by its first day, by account and model. A request is charged at the
 * price of its admission, so a price of the day before can apply too. One with rules is several prices.
 */
export function readMonths(
  database: Queryable,
  accountIds: readonly string[],
  month: string,
): Promise<(MonthUsage & AccountModel)[]> {
  return database.rows(
    `with used as (
       select account_id, model, sum(input_tokens) as input, sum(output_tokens) as output,
         sum(cached_tokens) as cached, sum(cache_write_tokens) as cache_write, sum(cost) as cost from usage_day
       where account_id = any($1::uuid[]) and day >= $2::date and day < $2::date + interval '1 month'
       group by account_id, model),
     priced as (
       select u.model, p.* from (select distinct model from used) u cross join lateral (
         select min(input) as input, min(output) as output, min(cached_input) as cached, min(cache_write) as cache_write
         from price
         where price.model = u.model and valid_from < $2::date + interval '1 month' and valid_from >= coalesce(
           (select max(valid_from) from price before where before.model = u.model
             and before.valid_from <= $2::date - interval '1 day'), '-infinity')
         having count(*) = 1 and count(rules) = 0) p)
     select u.account_id as "accountId", u.model, u.input as "inputTokens", u.output as "outputTokens",
       u.cached as "cachedTokens", u.cache_write as "cacheWriteTokens", u.cost, p.input::numeric as "inputPrice",
       p.output::numeric as "outputPrice", p.cached::numeric as "cachedPrice", p.cache_write::numeric as "cacheWritePrice"
     from used u left join priced p on p.model = u.model order by u.account_id, u.model`,
    [accountIds, month],
  )
}

/** One account's use of one model. */
export interface AccountModel {
  readonly accountId: string
  readonly model: string
}

/**
 * The same from the ledger, by price and without longer cache writes, and whether rules applied to any of it, for every one of the accounts and every one of the models. One statement, so that
 * PostgreSQL reads the month once for many accounts. It underestimates the rows of a join with (account, model) pairs.
 */
export function readPrices(
  database: Queryable,
  { accountIds, models }: { readonly accountIds: Iterable<string>; readonly models: Iterable<string> },
  month: string,
): Promise<(PricedUsage & AccountModel & { readonly hasTerms: boolean })[]> {
  return database.rows(
    `select account_id as "accountId", model, sum(input_tokens)::numeric as "inputTokens",
       sum(output_tokens)::numeric as "outputTokens", sum(cached_tokens)::numeric as "cachedTokens",
       sum(cache_write_tokens - coalesce((terms -> 'cache_write_1h' ->> 0)::bigint, 0))::numeric as "cacheWriteTokens", input_price as "inputPrice",
       output_price as "outputPrice", cached_price as "cachedPrice", cache_write_price as "cacheWritePrice",
       bool_or(terms is not null) as "hasTerms"
     from ledger where account_id = any($1::uuid[]) and model = any($2::text[])
       and at >= $3::date::timestamp at time zone 'UTC' and at < ($3::date + interval '1 month') at time zone 'UTC'
     group by account_id, model, input_price, output_price, cached_price, cache_write_price
     order by account_id, model, min(at)`,
    [[...accountIds], [...models], month],
  )
}

/** What was used of a model at one price besides its four kinds of tokens. The price is in 10⁻¹² of the currency unit for each. */
export interface FurtherUsage extends AccountModel {
  readonly direction: 'cache_write_1h' | 'image' | 'web_search'
  readonly count: bigint
  readonly price: bigint
}

/** What the rules of prices charged in a month besides the four kinds of tokens, for every one of the accounts and of the models. */
export function readFurtherUsage(
  database: Queryable,
  { accountIds, models }: { readonly accountIds: Iterable<string>; readonly models: Iterable<string> },
  month: string,
): Promise<FurtherUsage[]> {
  return database.rows(
    `select account_id as "accountId", model, direction, price, sum(count)::numeric as count
     from ledger cross join lateral (
       select 'cache_write_1h' as direction, (terms -> 'cache_write_1h' ->> 0)::numeric as count,
         coalesce(cache_write_price, input_price) + (terms -> 'cache_write_1h' ->> 1)::numeric as price
       where terms ? 'cache_write_1h'
       union all
       select key, (value ->> 0)::numeric, (value ->> 1)::numeric from jsonb_each(terms -> 'uses')) used
     where account_id = any($1::uuid[]) and model = any($2::text[]) and terms is not null
       and at >= $3::date::timestamp at time zone 'UTC' and at < ($3::date + interval '1 month') at time zone 'UTC'
     group by account_id, model, direction, price order by account_id, model, direction, min(at)`,
    [[...accountIds], [...models], month],
  )
}

/**
 * Whether a month, given by its first day, has been over for an hour (UTC): then its usage is final. A charge has the time of its
 * call, which can commit a little later.
 */
export async function readIsOver(database: Queryable, month: string): Promise<boolean> {
  const [row] = await database.rows<{ over: boolean }>(
    `select $1::date + interval '1 month' <= (now() - interval '1 hour') at time zone 'UTC' as over`,
    [month],
  )
  return row?.over === true
}

/** Whether an account is the firm's own. False for an unknown one. */
export async function readIsOwn(database: Queryable, accountId: string): Promise<boolean> {
  const [row] = await database.rows<{ own: boolean }>('select own from account where id = $1', [accountId])
  return row?.own === true
}

/** The cost of an account's usage in a month, in 10⁻¹² of the currency unit. */
export interface UnbilledAccount {
  readonly id: string
  readonly name: string
  readonly cost: bigint
}

/** The accounts with usage in a month that no invoice bills. The firm's own are not billed. */
export function readUnbilled(database: Queryable, month: string): Promise<UnbilledAccount[]> {
  return database.rows(
    `select a.id, a.name, sum(u.cost) as cost from usage_day u join account a on a.id = u.account_id
     where u.day >= $1::date and u.day < $1::date + interval '1 month' and not a.own
       and not exists (select from billed_month b where b.account_id = a.id and b.month = $1::date)
     group by a.id, a.name having sum(u.input_tokens + u.cached_tokens + u.cache_write_tokens + u.output_tokens) > 0 order by lower(a.name), a.id`,
    [month],
  )
}
