import type { VerifyQueries } from '../platform/verify-checks.ts'
import type { Queryable } from '../platform/database/database.ts'

// After the database's clock was set back, honest times are later than now. So a time is at fault only if it is also later
// than the other times in the books. PostgreSQL reads those only if it finds a time later than now.

const otherTimes = `now(), (select max(at) from seal), (select max(seen_at) from instance),
  (select max(created_at) from account), (select max(at) from credit_entry), (select max(created_at) from hold)`

/** The latest time in the books apart from those of the buckets and the idempotency keys. */
const latestTime = `(select greatest(${otherTimes}, (select max(at) from ledger)))`

/** The latest time in the books apart from those of the ledger and the idempotency keys. */
const latestBesideLedger = `(select greatest(${otherTimes}, (select max(level_at) from account)))`

/** Later than now by more than the clocks of two machines differ. A cheap test, to be made first. */
const isFuture = (time: string) => `${time} > now() + interval '5 minutes'`

/** The keys of each row of `key_limit`. */
const limitedKeys = 'key_limit l join api_key k on k.limit_id = l.id'

/** What must hold between roll-ups, accounts and requests in flight. Each query finds the rows at fault. */
export const books: VerifyQueries = {
  'every account was charged the sum of its roll-ups': `
    select id as account, charged, coalesce(roll_ups, 0) as roll_ups
    from account left join (select account_id, sum(cost) as roll_ups from usage_day group by account_id) u on account_id = id
    where charged <> coalesce(roll_ups, 0)`,
  'the charges of this month are the sum of its roll-ups': `
    select id as account, month, month_charged, coalesce(sum(cost), 0) as roll_ups
    from account left join usage_day on account_id = id and day >= month
    group by id having month_charged <> coalesce(sum(cost), 0)`,
  'the held credit is the sum of the holds and the allowances': `
    select id as account, held, coalesce(holds, 0) as holds, coalesce(instances, 0) as allowances
    from account left join (select account_id, sum(cost) as holds from hold group by account_id) h on h.account_id = id
      left join (select account_id, sum(held) as instances from allowance group by account_id) a on a.account_id = id
    where held <> coalesce(holds, 0) + coalesce(instances, 0)`,
  'the lent credit and limits are the sum of the allowances': `
    select id as account, credit_lent, requests_lent, tokens_lent from account left join (
      select account_id, sum(credit) as credit, sum(requests) as requests, sum(tokens) as tokens
      from allowance group by account_id) a on account_id = id
    where (credit_lent, requests_lent, tokens_lent)
      <> (coalesce(credit, 0), coalesce(requests, 0), coalesce(tokens, 0))`,
  'every instance has appended as many charges as it counted': `
    select i.id as instance, i.appended, coalesce(l.found, 0) as found
    from instance i left join (select instance, count(*) as found from appended_charges() group by instance) l on l.instance = i.number
    where i.appended <> coalesce(l.found, 0)`,
  'every hold and every allowance has its account and its instance': `
    select each.id as request, account_id as account, instance_id as instance from (
      select id, account_id, instance_id from hold union all select null, account_id, instance_id from allowance
      union all select null, account_id, instance_id from key_allowance left join key_limit on key_limit.id = limit_id
      union all select null, account_id, instance_id from budget_allowance left join budget on budget.id = budget_id
      union all select hold_id, t.account_id, instance_id from tagged_hold t left join hold on hold.id = hold_id) each
    where not exists (select from account where account.id = account_id)
      or not exists (select from instance where instance.id = instance_id)`,
  'every instance that stopped was released': `
    select id as instance, host, seen_at from instance
    where seen_at < now() - interval '5 minutes'
      and exists (select from instance other where other.seen_at > now() - interval '10 seconds'
        and other.started_at < now() - interval '1 minute')`,
  'the credit of every account is the sum of its entries': `
    select account.id as account, credited, coalesce(sum(amount), 0) as entries
    from account left join credit_entry on account_id = account.id
    group by account.id having credited <> coalesce(sum(amount), 0)`,
  'no prepaid account is below zero': `
    select id as account, credited - charged - held - credit_lent as credit_left from account
    where monthly_limit is null and credited - charged - held - credit_lent < 0`,
  'no bucket is above its limit or filled in the future': `
    select id as account, request_level, requests_per_minute, token_level, tokens_per_minute, level_at from account
    where request_level not between 0 and requests_per_minute * 60000000::bigint
      or token_level not between 0 and tokens_per_minute * 60000000::bigint
      or (${isFuture('level_at')} and level_at > ${latestTime} + interval '5 minutes')`,
  'every key with limits spent the sum of its roll-ups': `
    select l.id as key_limit, day, day_charged, month, month_charged, coalesce(of_day, 0) as day_roll_ups, coalesce(of_month, 0) as month_roll_ups
    from key_limit l left join (
      select l.id, sum(cost) filter (where u.day >= l.day) as of_day, sum(cost) filter (where u.day >= l.month) as of_month
      from ${limitedKeys} join usage_day u on u.account_id = l.account_id and u.key_id = k.id and u.day >= least(l.day, l.month)
      group by l.id) u using (id)
    where (day_charged, month_charged) <> (coalesce(of_day, 0), coalesce(of_month, 0))`,
  'the amount held by every key with limits is the sum of its holds and allowances': `
    select l.id as key_limit, l.held, coalesce(holds, 0) as holds, coalesce(instances, 0) as allowances
    from key_limit l left join (
      select l.id, sum(h.cost) as holds from ${limitedKeys} join hold h on h.key_id = k.id group by l.id) h using (id)
      left join (select limit_id as id, sum(held) as instances from key_allowance group by limit_id) a using (id)
    where l.held <> coalesce(holds, 0) + coalesce(instances, 0)`,
  'the amounts lent by every key with limits are the sums of its allowances': `
    select id as key_limit, credit_lent, requests_lent, tokens_lent from key_limit left join (
      select limit_id, sum(credit) as credit, sum(requests) as requests, sum(tokens) as tokens
      from key_allowance group by limit_id) a on limit_id = id
    where (credit_lent, requests_lent, tokens_lent)
      <> (coalesce(credit, 0), coalesce(requests, 0), coalesce(tokens, 0))`,
  'the limits of every key belong to its account, which is marked as having them': `
    select l.id as key_limit, k.id as key, l.account_id as account from key_limit l left join api_key k on k.limit_id = l.id
      left join account a on a.id = l.account_id
    where k.account_id is distinct from l.account_id or not a.limits_keys`,
  "no key's bucket is above its limit": `
    select id as key_limit, request_level, requests_per_minute, token_level, tokens_per_minute from key_limit
    where request_level not between 0 and coalesce(requests_per_minute, 0) * 60000000::bigint
      or token_level not between 0 and coalesce(tokens_per_minute, 0) * 60000000::bigint`,
  'every budget was charged the sum of its charges in its period': `
    select id as budget, account_id as account, began_at, charged, spent from (
      select b.*, budget_charged(b, b.began_at) as spent from budget b) each
    where charged <> spent or began_at <> (budget_period(period, time_zone, began_at)).began_at`,
  'the amount held by every budget is the sum of its holds and allowances': `
    select b.id as budget, b.account_id as account, b.held, coalesce(holds, 0) as holds, coalesce(instances, 0) as allowances
    from budget b left join (
      select o.id, sum(h.cost) as holds from hold h join account a on a.id = h.account_id and a.has_budgets
        cross join lateral budgets_of(h.account_id, h.key_id, (select tags from tagged_hold where hold_id = h.id)) o (id)
      group by o.id) h using (id)
      left join (select budget_id as id, sum(held) as instances from budget_allowance group by budget_id) a using (id)
    where b.held <> coalesce(holds, 0) + coalesce(instances, 0)`,
  'the amount lent by every budget is the sum of its allowances': `
    select id as budget, account_id as account, credit_lent, coalesce(credit, 0) as allowances from budget left join (
      select budget_id as id, sum(credit) as credit from budget_allowance group by budget_id) a using (id)
    where credit_lent <> coalesce(credit, 0)`,
  'every account with budgets is marked, and their keys are keys of the account': `
    select a.id as account, b.id as budget, k.id as key from account a full join budget b on b.account_id = a.id
      left join budget_key on budget_id = b.id left join api_key k on k.id = key_id
    where (b.id is null) = a.has_budgets or a.id is null or k.account_id <> a.id or (b.tag_name is not null and k.id is not null)`,
  'no day has more requests with tags than requests': `
    select account_id as account, day, t.requests, u.requests as all_requests from (
      select account_id, day, sum(requests) as requests, sum(cost) as cost from tag_day group by account_id, day) t
    left join (
      select account_id, day, sum(requests) as requests, sum(cost) as cost from usage_day group by account_id, day) u
      using (account_id, day)
    where t.requests > coalesce(u.requests, 0) or t.cost > coalesce(u.cost, 0)`,
  'no request is both held and charged': `
    select hold.id as request, hold.account_id as account from hold join ledger on request_id = hold.id`,
  // A key whose request was in flight when the clock was set back may be later than everything else.
  'every idempotency key has its hold or its charge': `
    select account_id as account, key as idempotency_key, hold_id as request,
      case when body is null then 'no such request is in flight' else 'no such request was charged' end as fault
    from idempotency i
    where case when body is null
        then not exists (select from hold where id = i.hold_id and account_id = i.account_id and idempotency_key = i.key)
        -- That of a line of a batch that has failed or was not run is used up without a charge.
        else body <> '' and not exists (select from ledger l where l.request_id = i.hold_id and l.account_id = i.account_id) end
      or (${isFuture('created_at')} and created_at > ${latestTime} + interval '1 day')`,
  'every stored reply is the one that was stored': `
    select account_id as account, key as idempotency_key, hold_id as request from idempotency i
    where body is not null and digest is distinct from reply_digest(i)
      -- None had a digest until the migration, which waited for the requests of its time.
      and (digest is not null
        or created_at > (select at + interval '5 minutes' from migration where name = '0059_recorded_changes'))`,
  'every charge has its account, and its key or person': `
    select distinct u.account_id as account, u.key_id as key, k.account_id as account_of_key, u.person_id as person
    from usage_day u left join account a on a.id = u.account_id left join api_key k on k.id = u.key_id
      left join person p on p.id = u.person_id
    where a.id is null or (u.key_id is not null and k.account_id is distinct from u.account_id)
      or (u.person_id is not null and p.id is null)`,
  'every key belongs to the account that it was issued to': `
    select coalesce(k.id, i.key_id) as key, k.account_id as account, i.account_id as issued_to,
      case when k.id is null then 'the key is missing' when i.key_id is null then 'it was never issued'
        when k.account_id is distinct from i.account_id then 'it was moved to another account'
        else 'its secret was changed' end as fault
    from api_key k full join key_issue i on i.key_id = k.id
    where (k.id, k.account_id, k.secret_hash) is distinct from (i.key_id, i.account_id, i.secret_hash)`,
}

/** Whether a row of the ledger is in the sums: its instance may have appended it only. */
const isCounted = 'not exists (select from instance i where i.number = ledger.instance and ledger.number > i.folded)'

/** Roll-ups that differ from the sums of the whole ledger. */
export const differingRollUps = `
  select account_id as account, day, key_id as key, person_id as person, model, client_id as client, sum(requests) as missing_requests,
    sum(input_tokens) as missing_input_tokens, sum(output_tokens) as missing_output_tokens, sum(cached_tokens) as missing_cached_tokens,
    sum(cache_write_tokens) as missing_cache_write_tokens, sum(cost) as missing_cost
  from (
    select account_id, (at at time zone 'UTC')::date as day, key_id, person_id, model, client_id, count(*) as requests,
      sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cached_tokens) as cached_tokens,
      sum(cache_write_tokens) as cache_write_tokens, sum(cost) as cost
    from ledger where ${isCounted} group by 1, 2, 3, 4, 5, 6
    union all
    select account_id, day, key_id, person_id, model, client_id, -requests, -input_tokens, -output_tokens,
      -cached_tokens, -cache_write_tokens, -cost from usage_day) u
  group by account_id, day, key_id, person_id, model, client_id
  having sum(requests) <> 0 or sum(input_tokens) <> 0 or sum(output_tokens) <> 0 or sum(cached_tokens) <> 0
    or sum(cache_write_tokens) <> 0 or sum(cost) <> 0`

/**
 * The time of a sealed row cannot be changed unnoticed. A seal may have been written just after the clock was set back, so
 * sealed rows may be later than everything else, within reason.
 */
const implausible = `stop_reason not in ('complete', 'max_output_tokens', 'stop_sequence', 'content_filter', 'cancelled', 'error')
  or (${isFuture('at')} and at > ${latestBesideLedger} + case
    when number <= (select upto from seal_chain where name = 'ledger') then interval '1 day' else interval '5 minutes' end)`

/** What a row of the ledger costs by the four prices in it. */
const ofTokens = `l.input_tokens::numeric * l.input_price + l.output_tokens::numeric * l.output_price
  + l.cached_tokens::numeric * coalesce(l.cached_price, l.input_price)
  + l.cache_write_tokens::numeric * coalesce(l.cache_write_price, l.input_price)`

/**
 * Whether a row of the ledger differs from what its tokens, images and uses of tools cost by the price that it names, whose rules are applied once more
 * here. Prices of rules are decimals per million tokens, per image or per use.
 */
const differsFromRules = `not exists (
  select from price p
  cross join lateral (
    select p.rules -> 'service_tiers' -> (l.terms ->> 'tier') as tier, p.rules -> 'regions' ->> (l.terms ->> 'region') as region,
      l.input_tokens::bigint + l.cached_tokens + l.cache_write_tokens + l.uncharged_input as prompt,
      jsonb_build_object('input', p.input / 1e6, 'output', p.output / 1e6, 'cached_input', p.cached_input / 1e6,
        'cache_write', p.cache_write / 1e6, 'cache_write_1h', p.rules -> 'cache_write_1h', 'steps', p.rules -> 'steps') as standard) a
  cross join lateral (select case when tier ? 'input' then tier else standard end as prices,
    coalesce((tier ->> 'factor')::numeric, 1) * coalesce(region::numeric, 1) * 1e6 as factor) b
  cross join lateral (select coalesce((
    select step from jsonb_array_elements(nullif(prices -> 'steps', 'null')) step
    where (step ->> 'above')::bigint < least(prompt, (l.terms ->> 'step')::bigint + 1)
    order by (step ->> 'above')::bigint desc limit 1), prices) as step) c
  cross join lateral (
    select (step ->> 'input')::numeric * factor as of_input, (step ->> 'output')::numeric * factor as of_output,
      (step ->> 'cached_input')::numeric * factor as of_cached, (step ->> 'cache_write')::numeric * factor as of_write,
      (step ->> 'cache_write_1h')::numeric * factor as of_long_write,
      coalesce((l.terms -> 'cache_write_1h' ->> 0)::bigint, 0) as long_writes) d
  where p.number = (l.terms ->> 'price')::bigint and p.model = l.model and p.rules is not null
    and (l.terms ->> 'tier' is null or tier is not null) and (l.terms ->> 'region' is null or region is not null)
    and (l.input_price, l.output_price) = (of_input, of_output) and l.cached_price is not distinct from of_cached
    and l.cache_write_price is not distinct from of_write and long_writes <= l.cache_write_tokens
    and l.cost = ${ofTokens} + long_writes * (coalesce(of_long_write, of_write, of_input) - coalesce(of_write, of_input))
      + (select coalesce(sum((used ->> 0)::numeric * 1e12
          * case name when 'image' then p.rules ->> 'image' else p.rules -> 'tools' ->> name end::numeric), 0)
        from jsonb_each(coalesce(l.terms -> 'uses', '{}')) as u(name, used)))`

const isMispriced = `case when l.terms is null then l.cost <> ${ofTokens} else ${differsFromRules} end`

/** Checks of every row of the ledger. */
export const wholeLedger = {
  'every charge is what its tokens and its price make': `
    select request_id as request, account_id as account, cost, terms from ledger l where ${isMispriced}`,
  'the daily sums of tags are the sums of the ledger': `
    select account_id as account, day, encode(digest, 'hex') as digest, sum(requests) as missing_requests, sum(cost) as missing_cost
    from (
      select account_id, (at at time zone 'UTC')::date as day, sha256(convert_to(tags::text, 'UTF8')) as digest,
        count(*) as requests, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
        sum(cached_tokens) as cached_tokens, sum(cache_write_tokens) as cache_write_tokens, sum(cost) as cost
      from ledger where tags is not null and ${isCounted} group by 1, 2, 3
      union all
      select account_id, day, digest, -requests, -input_tokens, -output_tokens, -cached_tokens, -cache_write_tokens, -cost
      from tag_day) t
    group by account_id, day, digest
    having sum(requests) <> 0 or sum(input_tokens) <> 0 or sum(output_tokens) <> 0 or sum(cached_tokens) <> 0
      or sum(cache_write_tokens) <> 0 or sum(cost) <> 0`,
  'every charge that is in no sum was appended since its instance last had none': `
    select request_id as request, account_id as account, at from ledger where not ${isCounted}
      and exists (select from instance i where i.number = ledger.instance and i.appended_since is null)`,
  'every ledger row has a known stop reason and a time in the past': `
    select request_id as request, account_id as account, at, stop_reason from ledger where ${implausible}`,
  'no request was charged twice': `
    select request_id as request, count(*) as rows from ledger group by request_id having count(*) > 1`,
} satisfies VerifyQueries

/** The rows whose numbers are in the ranges ($1, $2]. "offset 0" makes each range a separate index scan. */
const sampledRows = `
  with sampled as materialized (
    select l.* from unnest($1::bigint[], $2::bigint[]) as range(after, upto) cross join lateral (
      select * from ledger where number > after and number <= upto offset 0) l)`

/** The same checks of the sampled rows. The whole ledger is searched for a second charge of each, by its primary key. */
export const sampledLedger = {
  'every charge is what its tokens and its price make': `
    ${sampledRows} select request_id as request, account_id as account, cost, terms from sampled l where ${isMispriced}`,
  'every ledger row has a known stop reason and a time in the past': `
    ${sampledRows} select request_id as request, account_id as account, at, stop_reason from sampled where ${implausible}`,
  'no request was charged twice': `
    ${sampledRows} select distinct request_id as request, rows
    from sampled s cross join lateral (select count(*) as rows from ledger l where l.request_id = s.request_id offset 0) c
    where rows > 1`,
} satisfies VerifyQueries

/** Holds whose instance was still alive long after the request must have ended. $1: the longest a request may take, in s. */
export const leakedHolds = `
  select hold.id as request, account_id as account, instance_id as instance, created_at, seen_at from hold
    join instance on instance.id = instance_id
  where seen_at - created_at > make_interval(secs => $1::float8)`

export interface Checksums {
  readonly sealed: string
  readonly unsealed: string
  /** Of what is in the ledger and not in the roll-ups yet. */
  readonly appended: string
  readonly roll_ups: string
}

/** The checksums of the ledger, without reading sealed rows, and of the roll-ups. */
export async function readChecksums(tx: Queryable): Promise<Checksums> {
  const [sums] = await tx.rows<Checksums>(
    `select sealed::text, ledger_checksum(upto, 9223372036854775807)::text as unsealed, appended_checksum()::text as appended, roll_up_checksum()::text as roll_ups
     from (select coalesce(sum(checksum), 0) as sealed, coalesce(max(upto), 0) as upto from seal where chain = 'ledger') s`,
  )
  if (sums === undefined) throw new Error('an aggregate has a row')
  return sums
}
