import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { byService } from '../../access/actor.ts'
import { pino } from 'pino'
import { stepClock } from '../../../tests/support/clock-step.ts'
import { settle, stopClock } from '../../../tests/support/clock.ts'
import { until } from '../../../tests/support/until.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { tamper } from '../../../tests/support/tamper.ts'
import { at, valuesOf } from '../../../tests/support/json.ts'
import { openDatabase, type Database } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { isSamePrice } from './price.ts'
import { createPrices, type Price, type Prices } from './prices.ts'

const log = pino({ level: 'silent' })
const cheap: Price = { input: 100_000n, output: 400_000n }
const dear: Price = { input: 200_000n, output: 800_000n }
const dearest: Price = { input: 300_000n, output: 900_000n }

const instances: Prices[] = []

const { own: home, database } = openOwnDatabase(log)
beforeEach(() => tamper(database, 'truncate price'))
after(() => Promise.all(instances.map((prices) => prices.close())))

function open(on: Database = database): Prices {
  const prices = createPrices({ database: on, log })
  instances.push(prices)
  return prices
}
const amounts = (price: Price | undefined) => price && { input: price.input, output: price.output }
const sourcesOf = async (prices: Prices) => (await prices.list()).map(({ source }) => source)

test('a model without a configured price has no price', async () => {
  const prices = open()
  await prices.sync(new Map())
  assert.equal(prices.of('tiny'), undefined)
})

test('the configuration adds a row only when it changes', async () => {
  const prices = open()
  for (let start = 0; start < 3; start += 1) await prices.sync(new Map([['tiny', cheap]]))
  assert.deepEqual(amounts(prices.of('tiny')), cheap)
  assert.equal((await prices.list()).length, 1)
  await prices.sync(new Map([['tiny', { ...cheap, output: 400_001n }]]))
  assert.deepEqual(amounts(prices.of('tiny')), { ...cheap, output: 400_001n })
  assert.equal((await prices.list()).length, 2)
})

test('a price set by command stays in force until the configuration changes', async () => {
  const prices = open()
  await prices.sync(new Map([['tiny', cheap]]))
  await prices.set('tiny', dear, byService)
  await prices.sync(new Map([['tiny', cheap]]))
  assert.deepEqual(amounts(prices.of('tiny')), dear)
  assert.deepEqual(await sourcesOf(prices), ['command', 'configuration'])
  await prices.sync(new Map([['tiny', dearest]]))
  assert.deepEqual(amounts(prices.of('tiny')), dearest)
  assert.deepEqual(valuesOf(await prices.list(), 'state'), ['in force', 'past', 'past'])
})

test('concurrent starts write a price once', async () => {
  const several = Array.from({ length: 8 }, () => open())
  await Promise.all(
    several.map((prices) =>
      prices.sync(
        new Map([
          ['tiny', cheap],
          ['fast', dear],
        ]),
      ),
    ),
  )
  assert.equal((await database.rows('select 1 from price')).length, 2)
  for (const prices of several) assert.deepEqual(amounts(prices.of('fast')), dear)
})

test('a scheduled price takes effect on time, even while the database is unavailable', async (t) => {
  const clock = stopClock(t)
  const other = openDatabase(home.url, { log })
  const prices = open(other)
  await prices.sync(new Map([['tiny', cheap]]))
  await prices.set('tiny', dear, byService, new Date(Date.now() + 60_000))
  await prices.refresh()
  await other.close()
  assert.deepEqual(amounts(prices.of('tiny')), cheap)
  clock.advance(60_001)
  assert.deepEqual(amounts(prices.of('tiny')), dear)
  clock.advance(1000)
  await settle()
  assert.deepEqual(amounts(prices.of('tiny')), dear, 'the last known price stays')
})

test('a new price reaches other instances within a second', async (t) => {
  const clock = stopClock(t)
  const [one, other] = [open(), open()]
  await one.sync(new Map([['tiny', cheap]]))
  await other.refresh()
  await one.set('tiny', dear, byService)
  assert.deepEqual(amounts(other.of('tiny')), cheap)
  clock.advance(500)
  await until(() => other.of('tiny')?.input === dear.input)
})

test('models share neither prices nor their times', async () => {
  const prices = open()
  await prices.sync(
    new Map([
      ['tiny', cheap],
      ['fast', dearest],
    ]),
  )
  await prices.set('tiny', dear, byService, new Date(Date.now() + 86_400_000))
  await prices.refresh()
  assert.deepEqual(amounts(prices.of('tiny')), cheap)
  assert.deepEqual(amounts(prices.of('fast')), dearest)
  const started = open()
  await started.refresh()
  assert.deepEqual(amounts(started.of('tiny')), cheap, 'an instance that starts meanwhile')
  const listed = (await prices.list()).map(({ model, state }) => [model, state])
  assert.deepEqual(listed, [
    ['fast', 'in force'],
    ['tiny', 'to come'],
    ['tiny', 'in force'],
  ])
})

test('the prices of cached tokens are kept, and a change of one of them alone is a new price', async () => {
  const prices = open()
  const cached = { ...cheap, cachedInput: 10_000n, cacheWrite: 125_000n }
  for (const price of [
    cheap,
    cached,
    cached,
    { ...cached, cacheWrite: 0n },
    { ...cheap, cachedInput: 100_000n },
    cheap,
  ]) {
    await prices.sync(new Map([['tiny', price]]))
    const { cachedInput = null, cacheWrite = null } = price
    const read = prices.of('tiny')
    assert.deepEqual([read?.cachedInput, read?.cacheWrite], [cachedInput, cacheWrite])
  }
  const listed = (await prices.list()).map(({ cachedInput, cacheWrite }) => [cachedInput, cacheWrite])
  assert.deepEqual(listed, [
    [null, null],
    [100_000n, null],
    [10_000n, 0n],
    [10_000n, 125_000n],
    [null, null],
  ])
})

test('a repeated request to set a price changes nothing, now or at a time', async () => {
  const prices = open()
  const begins = await prices.set('tiny', cheap, byService)
  assert.deepEqual(await prices.set('tiny', { ...cheap, cachedInput: undefined }, byService), begins)
  const later = new Date(Date.now() + 60_000)
  assert.deepEqual(await prices.set('tiny', dear, byService, later), later)
  assert.deepEqual(await prices.set('tiny', dear, byService, later), later)
  assert.deepEqual(await prices.set('tiny', cheap, byService), begins, 'in force until then')
  await assert.rejects(prices.set('tiny', dearest, byService, later), { code: 'invalid_field' })
  await assert.rejects(prices.set('tiny', { ...dear, cachedInput: 1n }, byService, later), { code: 'invalid_field' })
  assert.deepEqual((await prices.list()).map(amounts), [dear, cheap])
  const recorded = await database.rows(`select from audit where action = 'price_set' and details ->> 'from' = $1`, [
    begins.toISOString(),
  ])
  assert.equal(recorded.length, 1)

  const other = await prices.set('other', { ...cheap, cachedInput: cheap.input }, byService)
  assert.notDeepEqual(other, begins, 'another model')
  await prices.set('tiny', dearest, byService)
  assert.notDeepEqual(await prices.set('tiny', cheap, byService), begins, 'a past price begins again')
  assert.equal((await prices.list()).length, 5)
})

const rules = {
  cacheWriteHour: 250_000n,
  steps: [
    {
      above: 200,
      input: 200_000n,
      output: 600_000n,
      cachedInput: undefined,
      cacheWrite: undefined,
      cacheWriteHour: undefined,
    },
  ],
  serviceTiers: { flex: { factor: 500_000n } },
  regions: { us: 1_100_000n },
  image: 1000n,
  tools: { web_search: 10_000_000_000n },
}

test('the rules of a price are kept, and a change of one of them alone is a new price', async () => {
  const prices = open()
  const changes = [
    {},
    { cacheWriteHour: 260_000n },
    { steps: [{ ...rules.steps[0], above: 201, input: 200_000n, output: 600_000n }] },
    { serviceTiers: { flex: { input: 20_000n, output: 40_000n } } },
    { regions: { us: 1_200_000n } },
    { image: 2000n },
    { tools: { web_search: 20_000_000_000n } },
  ]
  for (const change of changes) {
    const price = { ...cheap, rules: { ...rules, ...change } }
    await prices.sync(new Map([['tiny', price]]))
    await prices.sync(new Map([['tiny', price]]))
    assert.ok(isSamePrice(prices.of('tiny'), price))
    const began = await prices.set('tiny', price, byService)
    assert.deepEqual((await prices.list())[0]?.validFrom, began, 'a price that is in force changes nothing')
  }
  assert.equal((await prices.list()).length, changes.length)
  const [event] = await database.rows<{ details: { rules: string } }>(
    `select details from audit where action = 'price_set' and details ? 'rules' order by id limit 1`,
  )
  assert.match(event?.details.rules ?? '', /"service_tiers":\{"flex":\{"factor":"0.5"\}\}/)
  const inForce = prices.of('tiny')?.rules
  await prices.refresh()
  assert.equal(prices.of('tiny')?.rules, inForce, 'they are read once')
  await prices.sync(new Map([['tiny', cheap]]))
  assert.equal(prices.of('tiny')?.rules, null)
})

test('the audit log has all rules of a price, however many', async () => {
  const prices = open()
  const steps = Array.from({ length: 8 }, (_, index) => ({ ...cheap, above: 1000 + index, cachedInput: 90_000n }))
  const serviceTiers = { flex: { ...cheap, steps }, priority: { ...cheap, steps } }
  await prices.set('tiny', { ...cheap, rules: { steps, serviceTiers } }, byService)
  const [event] = await database.rows<{ details: { rules: string } }>(
    `select details from audit where action = 'price_set' order by id desc limit 1`,
  )
  const kept: unknown = JSON.parse(event?.details.rules ?? '{}')
  assert.equal(at(kept, 'service_tiers', 'priority', 'steps', 7, 'above'), 1007)
})

test('an invalid price is refused and not stored', async () => {
  const prices = open()
  const wrong: [Price, Date | undefined, RegExp][] = [
    [{ input: 400n, output: 400n }, undefined, /Output must cost more/],
    [{ input: 500n, output: 400n }, undefined, /Output must cost more/],
    [{ input: -1n, output: 400n }, undefined, /must not be negative/],
    [{ ...cheap, cachedInput: 100_001n }, undefined, /Cached input must not cost more/],
    [{ ...cheap, cachedInput: -1n }, undefined, /must not be negative/],
    [{ ...cheap, cacheWrite: -1n }, undefined, /must not be negative/],
    [{ ...cheap, rules: { cacheWriteHour: 99_999n } }, undefined, /cache_write_1h must not be below/],
    [
      { ...cheap, rules: { regions: { us: 1_000_001n } } },
      undefined,
      /regions.us must leave prices of at most 6 decimals/,
    ],
    [cheap, new Date(Date.now() - 1000), /cannot begin in the past/],
  ]
  for (const [price, from, words] of wrong) {
    await assert.rejects(
      prices.set('tiny', price, byService, from),
      (error) => error instanceof Problem && words.test(error.message),
    )
  }
  const from = new Date(Date.now() + 3_600_000)
  assert.deepEqual(await prices.set('tiny', cheap, byService, from), from)
  await assert.rejects(prices.set('tiny', dear, byService, from), /already has another price/)
  assert.deepEqual((await prices.list()).map(amounts), [cheap])
  await assert.rejects(prices.sync(new Map([['tiny', { input: 1n, output: 1n }]])), /output_costs_more/)
})

test('A31: a model whose only price was scheduled keeps it when the clock is set back', async () => {
  const prices = open()
  await database.rows(
    `insert into price (model, valid_from, scheduled, input, output, source)
     values ('new', clock_timestamp() - interval '1 minute', true, 100000, 400000, 'command')`,
  )
  await prices.refresh()
  assert.deepEqual(amounts(prices.of('new')), cheap)
  await stepClock(database, '-1 hour')
  await prices.refresh()
  assert.deepEqual(amounts(prices.of('new')), cheap)
})
