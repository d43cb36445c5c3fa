import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { setUp } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { createLedger, type LedgerPage, type LedgerRow } from './reports/ledger.ts'
import { createUsage } from './reports/usage.ts'

const [acme, beta, key] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]

const { database } = openOwnDatabase()
setUp(async () => {
  // Batches of five charges with the same time, in two months, so that pages split batches and cross partitions.
  for (const [index, account] of [acme, acme, acme, acme, beta].entries()) {
    const at = `2026-10-${String(29 + index).padStart(2, '0')}`
    await database.rows(
      `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price,
         output_price, cost, stop_reason, usage_source)
       select $1::date + interval '23 h 59 min 59.123456 s', gen_random_uuid(), $2, $3,
         case when n < 4 then 'tiny' else 'fast' end, 1000 + n, n, 100000, 400000,
         (1000 + n) * 100000 + n * 400000, 'complete', 'model'
       from generate_series(1, 5) n`,
      [index < 3 ? at : '2026-11-01', account, key],
    )
  }
  await database.rows(
    `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
     select (at at time zone 'UTC')::date, account_id, key_id, model, count(*), sum(input_tokens),
       sum(output_tokens), sum(cost) from ledger group by 1, 2, 3, 4`,
  )
})

async function allPages(page: Omit<LedgerPage, 'after'>): Promise<LedgerRow[]> {
  const ledger = createLedger({ database })
  const rows: LedgerRow[] = []
  for (;;) {
    const next = await ledger.page({ ...page, after: rows.at(-1) })
    rows.push(...next)
    if (next.length < page.limit) return rows
  }
}

test('pages of any size show every row once, newest first', async () => {
  const whole = await allPages({ accountId: acme, limit: 1000 })
  assert.equal(whole.length, 20)
  assert.equal(new Set(whole.map(({ requestId }) => requestId)).size, 20)
  assert.equal(whole[0]?.at, '2026-11-01T23:59:59.123456Z')
  assert.deepEqual(
    whole.map(({ at }) => at),
    whole
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  )
  for (const limit of [1, 3, 5, 7, 20])
    assert.deepEqual(await allPages({ accountId: acme, limit }), whole, `by ${limit}`)
})

test('a row shows the exact charge', async () => {
  const [row] = await createLedger({ database }).page({ accountId: beta, limit: 1 })
  assert.ok(row)
  assert.equal(row.cost, BigInt(row.inputTokens) * row.inputPrice + BigInt(row.outputTokens) * row.outputPrice)
  assert.deepEqual([row.keyId, row.clientId, row.stopReason, row.usageSource], [key, null, 'complete', 'model'])
})

test('a period includes its start and excludes its end', async () => {
  const spans: [number, { from?: string; to?: string }][] = [
    [15, { from: '2026-10-30' }],
    [5, { to: '2026-10-30' }],
    [10, { from: '2026-10-29T23:59:59.124Z', to: '2026-11-01T23:59:59.123Z' }],
    [0, { from: '2026-12-01' }],
  ]
  for (const [count, { from, to }] of spans) {
    const span = { ...(from && { from: new Date(from) }), ...(to && { to: new Date(to) }) }
    const rows = await allPages({ accountId: acme, limit: 2, ...span })
    assert.equal(rows.length, count, `from ${from} to ${to}`)
  }
})

test('usage is the sum of the ledger over whole days, both inclusive', async () => {
  const usage = createUsage({ database })
  const rows = await allPages({ accountId: acme, limit: 1000 })
  const sum = rows.reduce((total, { cost }) => total + cost, 0n)
  const total = await usage.total({ accountId: acme })
  assert.deepEqual(total, {
    requests: 20,
    inputTokens: 20_060,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 60,
    cost: sum,
  })
  const day = await usage.total({ accountId: acme, from: '2026-10-30', to: '2026-10-30' })
  assert.deepEqual([day.requests, day.cost * 4n], [5, sum])
  assert.equal((await usage.total({ accountId: acme, from: '2026-10-31' })).requests, 10)
  assert.equal((await usage.total({ accountId: acme, to: '2026-10-31' })).requests, 15)
})

test('usage by model adds up to the total, most expensive first', async () => {
  const usage = createUsage({ database })
  const models = await usage.byModel({ accountId: acme })
  assert.deepEqual(
    models.map(({ model, requests }) => [model, requests]),
    [
      ['tiny', 12],
      ['fast', 8],
    ],
  )
  const total = await usage.total({ accountId: acme })
  assert.equal(
    models.reduce((cost, each) => cost + each.cost, 0n),
    total.cost,
  )
})

test('an account without requests has no usage', async () => {
  const nobody = randomUUIDv7()
  assert.deepEqual(await createUsage({ database }).total({ accountId: nobody }), {
    requests: 0,
    inputTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    cost: 0n,
  })
  assert.deepEqual(await createLedger({ database }).page({ accountId: nobody, limit: 5 }), [])
})

test('charges are added to the sums of their tags, each kind of token to its own', async () => {
  const account = randomUUIDv7()
  const charge = {
    account,
    day: '2026-10-01',
    model: 'm',
    requests: 1,
    input: 1,
    output: 2,
    cached: 3,
    cache_write: 4,
    cost: 5,
    tags: { team: 'red' },
  }
  for (let call = 1; call <= 2; call++) {
    await database.rows('select count_charges(array[jsonb_populate_record(null::charge_sum, $1)])', [
      JSON.stringify(charge),
    ])
    const sums = await database.rows(
      `select array[requests, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost]::text as sums
       from tag_day where account_id = $1`,
      [account],
    )
    assert.deepEqual(sums, [{ sums: `{${[1, 1, 2, 3, 4, 5].map((each) => each * call).join()}}` }])
  }
})

test('a query of the ledger includes its first moment and excludes its last', async () => {
  const account = randomUUIDv7()
  await database.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price,
       output_price, cost, stop_reason, usage_source)
     select at, gen_random_uuid(), $1, $1, 'tiny', 1, 1, 1, 2, 3, 'complete', 'model'
     from unnest(array['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z', '2026-10-03T00:00:00Z']::timestamptz[]) at`,
    [account],
  )
  const [from, to] = [new Date('2026-10-01T00:00:00Z'), new Date('2026-10-03T00:00:00Z')]
  const rows = await createLedger({ database }).page({ accountId: account, limit: 10, from, to })
  assert.deepEqual(valuesOf(rows, 'at'), ['2026-10-02T00:00:00.000000Z', '2026-10-01T00:00:00.000000Z'])
})
