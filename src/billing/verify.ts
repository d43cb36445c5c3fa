import type { Database, Queryable } from '../platform/database/database.ts'

export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The rows at fault, at most ten. */
  readonly faults: readonly object[]
}

/**
 * Proves the books on one snapshot of the database: the ledger, the roll-ups and what the accounts were charged are the
 * same to the last 10⁻¹², what is held is the sum of the holds, and nothing was charged twice. Reads everything: it
 * takes seconds per million ledger rows, and disturbs nobody.
 */
export async function verifyBooks(database: Database): Promise<{ ok: boolean; checks: Check[] }> {
  return database.transaction(async (tx) => {
    await tx.rows('set transaction isolation level repeatable read, read only')
    await tx.rows('set local statement_timeout = 0')
    const checks: Check[] = []
    for (const [name, faultsOf] of Object.entries(books)) checks.push(await check(tx, name, faultsOf))
    return { ok: checks.every(({ ok }) => ok), checks }
  })
}

async function check(tx: Queryable, name: string, faultsOf: string): Promise<Check> {
  const faults = await tx.rows<object>(`${faultsOf} limit 10`)
  return { name, ok: faults.length === 0, faults }
}

/** Each name is what holds when its query finds nothing. */
const books: Readonly<Record<string, string>> = {
  'every account was charged the sum of its ledger rows': `
    select id as account, charged, coalesce(ledger, 0) as ledger
    from account left join (select account_id, sum(cost) as ledger from ledger group by account_id) l on account_id = id
    where charged <> coalesce(ledger, 0)`,
  'the daily roll-ups are the ledger': `
    select account_id as account, day, sum(ledger) as ledger, sum(roll_up) as roll_up from (
      select account_id, (at at time zone 'UTC')::date as day, key_id, person_id, model, client_id, count(*) as requests,
        sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cost) as ledger, 0 as roll_up
      from ledger group by 1, 2, 3, 4, 5, 6
      union all
      select account_id, day, key_id, person_id, model, client_id, -requests, -input_tokens, -output_tokens, 0, cost from usage_day) u
    group by account_id, day, key_id, person_id, model, client_id
    having sum(requests) <> 0 or sum(input_tokens) <> 0 or sum(output_tokens) <> 0 or sum(ledger) <> sum(roll_up)`,
  'what is charged this month is the sum of the month': `
    select id as account, month, month_charged, coalesce(sum(cost), 0) as roll_up
    from account left join usage_day on account_id = id and day >= month
    group by id having month_charged <> coalesce(sum(cost), 0)`,
  'what is held is the sum of the holds, here and at the instances': `
    select id as account, held, coalesce(holds, 0) as holds, coalesce(instances, 0) as instances
    from account left join (select account_id, sum(cost) as holds from hold group by account_id) h on h.account_id = id
      left join (select account_id, sum(held) as instances from allowance group by account_id) a on a.account_id = id
    where held <> coalesce(holds, 0) + coalesce(instances, 0)`,
  'what is lent is the sum of what the instances have': `
    select id as account, credit_lent, requests_lent, tokens_lent from account left join (
      select account_id, sum(credit) as credit, sum(requests) as requests, sum(tokens) as tokens
      from allowance group by account_id) a on account_id = id
    where (credit_lent, requests_lent, tokens_lent)
      <> (coalesce(credit, 0), coalesce(requests, 0), coalesce(tokens, 0))`,
  'every hold and every allowance has its account and its instance': `
    select each.id as hold, account_id as account, instance_id as instance from (
      select id, account_id, instance_id from hold union all select null, account_id, instance_id from allowance) each
    where not exists (select from account where account.id = account_id)
      or not exists (select from instance where instance.id = instance_id)`,
  'the credit of every account is the sum of its entries': `
    select account.id as account, credited, coalesce(sum(amount), 0) as entries
    from account left join credit_entry on account_id = account.id
    group by account.id having credited <> coalesce(sum(amount), 0)`,
  'no prepaid account is below zero': `
    select id as account, credited - charged - held - credit_lent as credit_left from account
    where monthly_limit is null and credited - charged - held - credit_lent < 0`,
  'no request is in the ledger twice': `
    select request_id as request, count(*) as rows from ledger group by request_id having count(*) > 1`,
  'no request is both held and charged': `
    select hold.id as hold from hold join ledger on request_id = hold.id`,
  'every ledger row has its account, and its key or person': `
    select distinct account_id as account, key_id as key, person_id as person from usage_day
    where not exists (select from account where account.id = account_id)
      or (key_id is not null and not exists (select from api_key where api_key.id = key_id))
      or (person_id is not null and not exists (select from person where person.id = person_id))`,
}
