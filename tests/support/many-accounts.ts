import type { Database } from '../../src/platform/database/database.ts'

const accountNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `Account ${String(index + 1).padStart(5, '0')}`)

/** Adds accounts with a key and credit, and the price of the model that `addUse` charges. */
export async function addManyAccounts(database: Database, count: number): Promise<void> {
  const names = accountNames(count)
  await database.transaction(async (tx) => {
    await tx.rows(
      `insert into price (model, input, output, valid_from, source) values ('fast', 100000, 200000, '2020-01-01', 'command')`,
    )
    await tx.rows(
      `insert into account (id, name, requests_per_minute, tokens_per_minute, credited, request_level, token_level)
       select gen_random_uuid(), name, 60, 1000, 1000000000000, 0, 0 from unnest($1::text[]) name`,
      [names],
    )
    await tx.rows(
      `insert into credit_entry (id, account_id, amount)
       select gen_random_uuid(), a.id, a.credited from account a where a.name = any($1)`,
      [names],
    )
    await tx.rows(
      `insert into api_key (id, public_id, secret_hash, account_id, name)
       select a.id, a.id::text, sha256(a.id::text::bytea), a.id, 'key' from account a where a.name = any($1)`,
      [names],
    )
  })
}

/** Charges every key for one request on a day in the past, as the till would have done. */
export async function addUse(database: Database, day: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.rows('select ledger_partitions($1, $1)', [day])
    await tx.rows(
      `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price,
         cost, stop_reason, usage_source)
       select $1::date + time '12:00', gen_random_uuid(), account_id, id, 'fast', 5000, 7000, 100000, 200000, 1900000000,
         'complete', 'model' from api_key`,
      [day],
    )
    await tx.rows(
      `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
       select $1::date, account_id, id, 'fast', 1, 5000, 7000, 1900000000 from api_key`,
      [day],
    )
    await tx.rows('update account set charged = charged + 1900000000')
  })
}
