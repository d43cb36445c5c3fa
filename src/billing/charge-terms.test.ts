import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOwnTime } from '../../tests/support/clock.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'
import {
  createNumbers,
  drawPrice,
  drawUsage,
  independentCost,
  priceIn,
  reachFor,
} from '../../tests/support/price-rules.ts'
import { draws } from '../../tests/support/draws.ts'
import { whileTampered } from '../../tests/support/tamper.ts'
import { ask, log, openTills, used } from '../../tests/support/tills.ts'
import { byService } from '../access/actor.ts'
import type { Database } from '../platform/database/database.ts'
import type { Payer } from './payer.ts'
import { createPrices, type Price } from './prices/prices.ts'
import { chargeTermsOf, hasRules, holdTermsOf, type Reach, type ReportedTerms } from './prices/terms.ts'
import type { ChargedTokens } from './prices/tokens.ts'
import { exchangeCall, type ExchangeParts } from './till/store.ts'
import { verifyBooks } from './verify.ts'

// Charges by prices with rules, whose cost the verification at the end computes from the ledger and the price history.

// Allowances are valid for a second, which must not depend on the machine's load.
countOwnTime()
const stage = fixture(() => openTills(1))

let claude: Price
setUp(async () => {
  claude = await setPrice('claude', {
    input: '3',
    output: '15',
    cached_input: '0.3',
    cache_write: '3.75',
    cache_write_1h: '6',
    steps: [{ above: 100, input: '6', output: '22.5', cached_input: '0.6', cache_write: '7.5', cache_write_1h: '12' }],
    service_tiers: { batch: { factor: '0.5' } },
    regions: { us: '1.1' },
    image: '0.000000001',
    tools: { web_search: '0.01' },
  })
})

async function setPrice(model: string, written: Parameters<typeof priceIn>[0]): Promise<Price> {
  const prices = createPrices({ database: stage.database, log })
  await prices.set(model, priceIn(written), byService)
  await prices.refresh()
  await prices.close()
  return prices.of(model) ?? assert.fail()
}

const nothing: Reach = { promptTokens: 10, images: 0, hourWrites: false, tools: {} }

/** Admits a request with as many tokens in its prompt as it can reach, and settles it. */
async function charge(
  payer: Payer,
  { model, price, reach }: { readonly model: string; readonly price: Price; readonly reach: Reach },
  { outputTokens, ...tokens }: ChargedTokens,
  reported: ReportedTerms = {},
) {
  assert.ok(hasRules(price))
  const request = ask(payer, {
    model,
    inputTokens: reach.promptTokens,
    maxOutputTokens: 1000,
    ...holdTermsOf(price, reach),
  })
  await stage.nth(0).admit(request)
  const terms = chargeTermsOf(price, reach, { outputTokens, ...tokens }, reported)
  const settled = await stage
    .nth(0)
    .settle(request.requestId, payer.accountId, used(outputTokens, { ...tokens, terms }))
  const [row] = await stage.database.rows<{ cost: bigint; terms: object; prices: bigint[] }>(
    'select cost, terms, array[input_price, output_price, cached_price, cache_write_price] as prices from ledger where request_id = $1',
    [request.requestId],
  )
  assert.equal(row?.cost, settled.cost)
  return { settled, row: row ?? assert.fail() }
}

const none: ChargedTokens = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 }

test('a charge has the prices of its step, tier and region, from till() and from an allowance', async () => {
  const payer = await stage.addAccount({ credit: 10n ** 18n })
  for (let round = 0; round < 12; round += 1) {
    const reach = { ...nothing, promptTokens: 120, images: 2, hourWrites: true, tools: { web_search: 3 } }
    const tokens = { inputTokens: 50, outputTokens: 7, cachedTokens: 30, cacheWriteTokens: 40 }
    const { row } = await charge(payer, { model: 'claude', price: claude, reach }, tokens, {
      serviceTier: 'batch',
      region: 'us',
      hourWriteTokens: 25,
      tools: { web_search: 2 },
    })
    // Half of the second step, times 1.1.
    assert.deepEqual(row.prices.map(Number), [3_300_000, 12_375_000, 330_000, 4_125_000])
    const ofTokens = 50n * 3_300_000n + 7n * 12_375_000n + 30n * 330_000n + 15n * 4_125_000n + 25n * 6_600_000n
    assert.equal(row.cost, ofTokens + 2n * 1000n + 2n * 10n ** 10n)
    const number = Number(claude.number)
    assert.deepEqual(row.terms, {
      price: number,
      tier: 'batch',
      region: 'us',
      cache_write_1h: [25, 2_475_000],
      uses: { image: [2, 1000], web_search: [2, 10 ** 10] },
      cost: String(25n * 2_475_000n + 2n * 1000n + 2n * 10n ** 10n),
    })
  }
})

test('only a report with holds that move goes through the function that moves them', () => {
  const empty = { accounts: [], keys: [], budgets: [], charges: [], terms: [], holds: [] }
  const called = (parts: Partial<ExchangeParts>) =>
    / from (\w+)/.exec(exchangeCall({ instance: 'i', batch: 1n }, { ...empty, ...parts }).text)?.[1]
  assert.equal(called({}), 'exchange_timed')
  assert.equal(called({ terms: [['id', { cost: '1' }]] }), 'exchange_timed')
  assert.equal(called({ terms: [['id', { cost: '1' }]], holds: [{}] }), 'exchange_moving')
})

test('the ledger refuses a cost that neither its tokens nor its terms explain', async () => {
  const { accountId, keyId } = await stage.addAccount({ credit: 10n ** 18n })
  for (const terms of [null, {}, { price: 1 }, { price: 1, cost: '4' }]) {
    const insert = stage.database.rows(
      `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost,
         stop_reason, usage_source, terms)
       values (now(), gen_random_uuid(), $1, $2, 'm', 1, 1, 1, 2, 8, 'complete', 'model', $3)`,
      [accountId, keyId, terms && JSON.stringify(terms)],
    )
    await assert.rejects(insert, /ledger_is_valid/)
  }
})

test('terms that the vendor reports and the request could not reach cost no more than was held', async () => {
  const payer = await stage.addAccount({ credit: 10n ** 18n })
  const reach = { ...nothing, serviceTier: 'none', region: 'none' }
  const strange = { serviceTier: 'priority', region: 'moon', hourWriteTokens: 4, tools: { web_search: 9 } }
  const tokens = { inputTokens: 6, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 4 }
  const { row } = await charge(payer, { model: 'claude', price: claude, reach }, tokens, strange)
  assert.equal(row.cost, 6n * 3_000_000n + 15_000_000n + 4n * 3_750_000n)
  assert.deepEqual(row.terms, { price: Number(claude.number), cost: '0' })
  const { row: longer } = await charge(
    payer,
    { model: 'claude', price: claude, reach },
    { ...none, inputTokens: 500 },
    {},
  )
  assert.equal(
    longer.cost,
    500n * 3_000_000n,
    'a prompt that nobody expected has the price of the longest that was held',
  )
  assert.deepEqual(longer.terms, { price: Number(claude.number), step: 0, cost: '0' })
})

test('a hold that the credit does not cover is refused, with what the request can cost besides its tokens', async () => {
  const reach = { ...nothing, hourWrites: true, tools: { web_search: 1 } }
  const most = 10n * 6_600_000n + 1000n * 16_500_000n + 10n ** 10n
  const target = { model: 'claude', price: claude, reach }
  await assert.rejects(charge(await stage.addAccount({ credit: most - 1n }), target, none), /credit/)
  const payer = await stage.addAccount({ credit: most })
  await charge(payer, target, none)
  assert.equal((await stage.account(payer)).held, 0n)
})

test('beyond its hold, a reply is charged as far as the credit goes, its images and searches first', async () => {
  for (const [more, rounds] of [
    [0n, 1],
    [10n * 6_600_000n + 5n, 1],
    [10n ** 15n, 8],
  ] as const) {
    const reach = { ...nothing, images: 1, hourWrites: true, tools: { web_search: 1 } }
    const held = 10n * 6_600_000n + 1000n * 16_500_000n + 10n ** 10n + 1000n
    const payer = await stage.addAccount({ credit: held + more })
    for (let round = 0; round < rounds; round += 1) {
      const tokens = { inputTokens: 8, outputTokens: 1000, cachedTokens: 5, cacheWriteTokens: 60 }
      const { settled } = await charge(payer, { model: 'claude', price: claude, reach }, tokens, {
        region: 'us',
        hourWriteTokens: 55,
        tools: { web_search: 1 },
      })
      const { inputTokens, cachedTokens, cacheWriteTokens, cost } = settled
      const long = BigInt(Math.min(55, cacheWriteTokens))
      const expected =
        BigInt(inputTokens) * 3_300_000n +
        BigInt(cacheWriteTokens) * 4_125_000n +
        long * 2_475_000n +
        BigInt(cachedTokens) * 330_000n +
        1000n * 16_500_000n +
        10n ** 10n +
        1000n
      assert.equal(cost, expected)
      assert.ok(inputTokens + cachedTokens + cacheWriteTokens >= 10)
      if (rounds > 1) assert.equal(inputTokens + cachedTokens + cacheWriteTokens, 73)
      assert.ok((await stage.account(payer)).left >= 0n)
    }
  }
})

test('charges over all kinds of prices are verified from the ledger and the price history', async () => {
  const { numRuns, seed } = draws({ test: 150, endure: 5000 })
  const numbers = createNumbers(seed)
  const payer = await stage.addAccount({ credit: 10n ** 22n })
  for (let run = 0; run < numRuns; run += 10) {
    const model = `drawn-${run}`
    const written = drawPrice(numbers)
    const price = await setPrice(model, written)
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const usage = drawUsage(numbers, written)
        const { outputTokens, inputTokens, cachedTokens, cacheWriteTokens, ...reported } = usage
        const tokens = { outputTokens, inputTokens, cachedTokens, cacheWriteTokens }
        const { settled } = await charge(payer, { model, price, reach: reachFor(usage) }, tokens, reported)
        assert.equal(settled.cost, independentCost(written, usage))
      }),
    )
  }
  await assertFaults(stage.database, 'nothing', 0)
})

async function assertFaults(database: Database, change: string, faults: number): Promise<void> {
  const name = 'every charge is what its tokens and its price make'
  const { checks } = await verifyBooks(database)
  assert.equal(checks.find((check) => check.name === name)?.faults.length, faults, change)
}

/** A change of one part of the terms. */
const set = (path: string, value: string): string => `terms = jsonb_set(terms, '${path}', '${value}')`

test('verify names a charge whose terms were changed', async () => {
  const payer = await stage.addAccount({ credit: 10n ** 18n })
  const reach = { ...nothing, promptTokens: 200, images: 1, hourWrites: true, tools: { web_search: 2 } }
  const tokens = { ...none, inputTokens: 100, cacheWriteTokens: 50 }
  const reported = { serviceTier: 'batch', region: 'us', hourWriteTokens: 20, tools: { web_search: 2 } }
  await charge(payer, { model: 'claude', price: claude, reach }, tokens, reported)
  await assertFaults(stage.database, 'nothing', 0)
  for (const change of [
    set('{tier}', '"unheard-of"'),
    "terms = terms - 'tier'",
    "terms = terms - 'region'",
    set('{step}', '0'),
    set('{price}', '0'),
    set('{uses,image,0}', '2'),
    set('{uses,web_search,0}', '1'),
    set('{cache_write_1h,0}', '21'),
    `cost = cost + 1, terms = jsonb_set(terms, '{cost}', to_jsonb((terms ->> 'cost')::numeric + 1))`,
  ]) {
    const where = `where account_id = '${payer.accountId}'`
    await whileTampered(stage.database, `update ledger set ${change} ${where}`, (changed) =>
      assertFaults(changed, change, 1),
    )
  }
})
