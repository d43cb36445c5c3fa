import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { verifyBooks } from '../src/billing/verify.ts'
import { draws, isEndure } from './support/draws.ts'
import type { ModelKeyReport } from './support/key-limit-model.ts'
import { addKeys, changeLimit, clearLimits, readLimits, type LimitChange } from './support/limited-keys.ts'
import { openOwnDatabase } from './support/own-database.ts'
import {
  createTillModel,
  monthOf,
  type ModelAccount,
  type ModelAdmission,
  type ModelAnswer,
  type ModelKinds,
  type ModelReport,
  type ModelSettlement,
} from './support/till-model.ts'

/** One step of a history. Numbers pick among what exists when the step is taken. */
type Step =
  | {
      readonly kind: 'batch'
      readonly instance: number
      readonly later: number
      readonly settle: readonly Settle[]
      readonly admit: readonly Admit[]
    }
  | {
      readonly kind: 'change'
      readonly account: number
      readonly requestsPerMinute: number
      readonly tokensPerMinute: number
    }
  | {
      readonly kind: 'exchange'
      readonly instance: number
      readonly later: number
      readonly renew: readonly Renew[]
      readonly renewKeys: readonly RenewKey[]
    }
  | {
      readonly kind: 'take'
      readonly instance: number
      readonly account: number
      /** Among those of the account. */
      readonly key: number
      readonly share: number
    }
  | { readonly kind: 'limit'; readonly key: number; readonly to: LimitChange | undefined }
  | { readonly kind: 'credit'; readonly account: number; readonly amount: number }
  | { readonly kind: 'open'; readonly account: number; readonly open: boolean }
  | { readonly kind: 'crash'; readonly instance: number }

/** What an instance reports about one account. */
interface Renew {
  readonly account: number
  /** How many of its requests in flight end, and how. */
  readonly ending: number
  readonly charged: boolean
  readonly used: number
  /** The share of its allowance that it keeps. */
  readonly keep: number
  readonly atHand: number
  readonly need: number
}

/** What an instance reports about the limits of one key. */
interface RenewKey {
  /** Among those of all accounts. */
  readonly key: number
  readonly keep: number
  readonly atHand: number
  readonly need: number
}

interface Settle {
  readonly pick: number
  /** The share of the held output tokens that is used. Above 1, the settlement exceeds its hold. */
  readonly used: number
  /** Input tokens used beyond those held. */
  readonly more: number
  /** Shares of the input tokens that were read from the cache and written to it. */
  readonly cached: number
  readonly written: number
  readonly charged: boolean
  readonly answered: boolean
}

interface Admit {
  readonly account: number
  /** Among those of the account. */
  readonly key: number
  readonly input: number
  readonly output: number
  readonly least: number | undefined
  readonly holds: boolean
  /** What cached tokens and cache writes cost more than input; null: they have no price of their own. */
  readonly cached: number | null
  readonly written: number | null
  readonly idem: number
  readonly hash: string
  /** Sends the hold of an earlier step again, as after a lost connection. */
  readonly again: boolean
}

const anyShare = fc.double({ min: 0, max: 1, noNaN: true })
const anySettle: fc.Arbitrary<Settle> = fc.record({
  pick: fc.nat(40),
  used: fc.oneof(
    { weight: 4, arbitrary: anyShare },
    { weight: 1, arbitrary: fc.double({ min: 1, max: 9, noNaN: true }) },
  ),
  more: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(200) }),
  cached: fc.constantFrom(0, 0, 0.2, 0.5, 1),
  written: fc.constantFrom(0, 0, 0.3, 1),
  charged: fc.constantFrom(true, true, true, false),
  answered: fc.constantFrom(true, true, true, false),
})
const anyAdmit: fc.Arbitrary<Admit> = fc.record({
  account: fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 5),
  key: fc.constantFrom(0, 1, 1, 2, 3),
  input: fc.nat(30),
  output: fc.integer({ min: 1, max: 60 }),
  least: fc.constantFrom(undefined, undefined, 1, 20),
  holds: fc.constantFrom(true, true, true, false),
  cached: fc.constantFrom(null, 0, -1, -100, 2),
  written: fc.constantFrom(null, 0, 1, 3, -100),
  idem: fc.nat(5),
  hash: fc.constantFrom('a', 'a', 'a', 'b'),
  again: fc.constantFrom(true, false, false, false),
})
const anyRenew: fc.Arbitrary<Renew> = fc.record({
  account: fc.constantFrom(3, 4, 3, 4, 0, 9),
  ending: fc.nat(3),
  charged: fc.boolean(),
  used: fc.double({ min: 0, max: 1, noNaN: true }),
  keep: fc.constantFrom(0, 0.5, 1),
  atHand: fc.constantFrom(4, 4, 3, 1, 0),
  need: fc.oneof(fc.constantFrom(60, 60, 59), fc.integer({ min: 1, max: 60 })),
})
/** Mostly of the accounts with large limits. */
const anyRenewKey: fc.Arbitrary<RenewKey> = fc.record({
  key: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(14, 15, 17) }, { weight: 1, arbitrary: fc.nat(19) }),
  keep: fc.constantFrom(0, 0.5, 1),
  atHand: fc.constantFrom(4, 4, 3, 1, 0),
  need: fc.oneof(fc.constantFrom(60, 60, 59), fc.integer({ min: 1, max: 60 })),
})
const anyLimit: fc.Arbitrary<LimitChange> = fc
  .record({
    requestsPerMinute: fc.option(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 399, max: 500 }))),
    tokensPerMinute: fc.option(fc.oneof(fc.integer({ min: 1, max: 250 }), fc.integer({ min: 23_990, max: 30_000 }))),
    dailyBudget: fc.option(fc.oneof(fc.nat(1500), fc.integer({ min: 167_900, max: 300_000 })).map(BigInt)),
    monthlyBudget: fc.option(fc.oneof(fc.nat(4000), fc.integer({ min: 167_900, max: 300_000 })).map(BigInt)),
  })
  .filter((limit) => Object.values(limit).some((each) => each !== null))
const minute = 60_000_000
const hour = 60 * minute
/** Steps of the database's clock between two calls, in microseconds. */
const anyStepOfTheClock = fc.constantFrom(
  0,
  1,
  -1,
  -5_000_000,
  minute,
  2 * minute,
  -minute,
  hour,
  -hour,
  24 * hour,
  -24 * hour,
  24.5 * hour,
  25 * hour,
  40 * 24 * hour,
  -40 * 24 * hour,
)
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      instance: fc.nat(2),
      later: fc.oneof({ weight: 3, arbitrary: fc.nat(20_000_000) }, { weight: 2, arbitrary: anyStepOfTheClock }),
      settle: fc.array(anySettle, { maxLength: 6 }),
      admit: fc.array(anyAdmit, { maxLength: 8, size: 'max' }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('exchange' as const),
      instance: fc.constantFrom(0, 0, 0, 1, 2),
      later: fc.oneof({ weight: 3, arbitrary: fc.nat(minute) }, { weight: 1, arbitrary: anyStepOfTheClock }),
      renew: fc.uniqueArray(anyRenew, { maxLength: 4, selector: ({ account }) => account }),
      renewKeys: fc.array(anyRenewKey, { maxLength: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      instance: fc.constantFrom(0, 0, 0, 1, 2),
      account: fc.constantFrom(3, 4),
      key: fc.constantFrom(0, 1, 2, 2, 3),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      account: fc.nat(4),
      requestsPerMinute: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 390, max: 410 })),
      tokensPerMinute: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 23_900, max: 24_100 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('limit' as const),
      key: fc.nat(19),
      to: fc.option(anyLimit, { nil: undefined, freq: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('credit' as const),
      account: fc.nat(4),
      amount: fc.nat(3000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('open' as const),
      account: fc.nat(4),
      open: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), instance: fc.nat(2) }) },
)

const { database } = openOwnDatabase()

test('till() and exchange() match their model on any history of three instances', async (t) => {
  const property = fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 25, size: 'medium' }), playHistory)
  // A history is not made smaller: each try takes seconds.
  await fc.assert(property, { ...draws({ test: 15, endure: 300 }), endOnFailure: true })
  t.diagnostic(`outcomes: ${JSON.stringify(Object.fromEntries(outcomes))}`)
  for (const [binding, least] of isEndure ? bindings : []) {
    assert.ok((outcomes.get(binding) ?? 0) >= least, `${binding} is hardly ever the outcome`)
  }
  const books = await verifyBooks(database)
  assert.deepEqual(
    books.checks.filter(({ ok, name }) => !ok && !name.includes('its key or person')),
    [],
  )
})

test('an allowance larger than a bucket can represent is not granted, without an error', async () => {
  const largest = { requestsPerMinute: 1_000_000, tokensPerMinute: 2_000_000_000 }
  const account = await addAccount(BigInt(Date.now()) * 1000n, { credited: 1000n, monthlyLimit: null }, largest)
  const instance = await addInstance()
  const asked = { atHand: 1024n, cost: 0n, need: 100_000_000n }
  const more = { moreCredit: 0n, moreRequests: 1024n, moreTokens: 1024n * asked.need }
  const told = {
    charges: [],
    requestsBack: 0n,
    tokensBack: 0n,
    held: 0n,
    credit: 0n,
    requests: 0n,
    tokens: 0n,
  }
  const report = { account: account.id, ...told, ...asked, ...more }
  const answer = await callExchange(instance, 1, [report], BigInt(Date.now()) * 1000n)
  assert.deepEqual(answer, [{ id: account.id, granted: false }])
  await reap(instance)
})

test('a request that finds all credit lent to another instance gets that outcome', async () => {
  const now = BigInt(Date.now()) * 1000n
  const account = await addAccount(now, { credited: 1000n, monthlyLimit: null }, large)
  const instance = await addInstance()
  await database.rows('update account set credit_lent = 1000 where id = $1', [account.id])
  await database.rows('insert into allowance values ($1, $2, 0, 1000, 0, 0)', [instance, account.id])
  const admit = {
    hold: randomUUIDv7(),
    account: account.id,
    key: randomUUIDv7(),
    model: 'm',
    input: 1,
    output: 1,
  }
  const rows = await database.rows('select outcome, lent from till($1, 1, $2, $3)', [
    instance,
    '[]',
    JSON.stringify([{ ...admit, input_price: 1, output_price: 2, requests: 1 }]),
  ])
  assert.deepEqual(rows, [{ outcome: 'credit_held', lent: true }])
  await reap(instance)
})

test('a request that finds the budget of its key lent to another instance gets that outcome, and recalls it', async () => {
  const now = BigInt(Date.now()) * 1000n
  const model = createTillModel()
  const account = await addAccount(now, { credited: 100_000n, monthlyLimit: null }, large)
  const [key = unknownKey] = await addKeys(database, account.id)
  await changeLimit(database, model, key, { ...noLimit, dailyBudget: 1000n }, now)
  const id = model.limits.get(key)?.id
  const instance = await addInstance()
  await database.rows('update key_limit set credit_lent = 999 where id = $1', [id])
  await database.rows('insert into key_allowance values ($1, $2, 0, 999, 0, 0)', [instance, id])
  const admit = { hold: randomUUIDv7(), account: account.id, key, model: 'm', input: 0, output: 1, requests: 1 }
  const outcomeAt = (batch: number, price: number) =>
    database.rows('select outcome, lent, of_limit from till($1, $2, $3, $4)', [
      instance,
      batch,
      '[]',
      JSON.stringify([{ ...admit, input_price: 0, output_price: price }]),
    ])
  assert.deepEqual(await outcomeAt(1, 2), [{ outcome: 'key_held', lent: true, of_limit: id }])
  const recalled = await database.rows('select recalled_at is not null as recalled from key_limit where id = $1', [id])
  assert.deepEqual(recalled, [{ recalled: true }])
  assert.deepEqual(await outcomeAt(2, 1), [{ outcome: 'admitted', lent: false, of_limit: id }])
  await reap(instance)
  const [left] = await database.rows('select held, credit_lent from key_limit where id = $1', [id])
  assert.deepEqual(left, { held: 0n, credit_lent: 0n })
})

test('A31: nothing is lent within two seconds of a recall, but a recall in the future suspends nothing', async () => {
  const now = BigInt(Date.now()) * 1000n
  const asked = { atHand: 2n, cost: 1n, need: 10n, moreCredit: 2n, moreRequests: 2n, moreTokens: 20n }
  const none = { charges: [], requestsBack: 0n, tokensBack: 0n, held: 0n, credit: 0n, requests: 0n, tokens: 0n }
  for (const [seconds, granted] of [
    [-2.1, true],
    [-1.9, false],
    [0, false],
    [1, true],
    [3600, true],
  ] as const) {
    const account = await addAccount(now, { credited: 1000n, monthlyLimit: null }, large)
    const instance = await addInstance()
    await database.rows('update account set recalled_at = $2 where id = $1', [
      account.id,
      timestamp(now + BigInt(Math.round(seconds * 1e6))),
    ])
    const answers = await callExchange(instance, 1, [{ account: account.id, ...none, ...asked }], now)
    assert.deepEqual(answers, [{ id: account.id, granted }], `recalled ${seconds} s from now`)
    await reap(instance)
  }
})

test('an allowance of a key needs a hundred times as much of each limit and budget, and no recent recall', async () => {
  const now = BigInt(Date.UTC(2026, 2, 15)) * 1000n
  const asked = { atHand: 2n, cost: 7n, need: 10n, moreCredit: 14n, moreRequests: 2n, moreTokens: 20n }
  const none = { requestsBack: 0n, tokensBack: 0n, held: 0n, credit: 0n, requests: 0n, tokens: 0n }
  const exact: LimitChange = {
    requestsPerMinute: 200,
    tokensPerMinute: 2000,
    dailyBudget: 1400n,
    monthlyBudget: 1400n,
  }
  const secondsAgo = (seconds: number) => `recalled_at = '${timestamp(now - BigInt(Math.round(seconds * 1e6)))}'`
  for (const [limit, state, granted] of [
    [exact, 'held = 0', true],
    [{ ...exact, requestsPerMinute: 199 }, 'held = 0', false],
    [{ ...exact, tokensPerMinute: 1999 }, 'held = 0', false],
    [{ ...exact, dailyBudget: 1399n }, 'held = 0', false],
    [{ ...exact, monthlyBudget: 1399n }, 'held = 0', false],
    [exact, 'held = 1', false],
    [exact, 'credit_lent = 1', false],
    [exact, "day_charged = 1, day = '2026-03-15'", false],
    [exact, "month_charged = 1, month = '2026-03-01'", false],
    // Of another day and month.
    [exact, "day_charged = 1, day = '2026-03-14'", true],
    [exact, "month_charged = 1, month = '2026-02-01'", true],
    [exact, 'requests_lent = 1', false],
    [exact, 'tokens_lent = 1', false],
    [exact, 'request_level = request_level - 1', false],
    [exact, 'token_level = token_level - 1', false],
    [exact, secondsAgo(2.1), true],
    [exact, secondsAgo(1.9), false],
    [exact, secondsAgo(0), false],
    [exact, secondsAgo(-1), true],
  ] as const) {
    const model = createTillModel()
    const account = await addAccount(now, { credited: 1000n, monthlyLimit: null }, large)
    const [key = unknownKey] = await addKeys(database, account.id)
    await changeLimit(database, model, key, limit, now)
    const id = model.limits.get(key)?.id ?? assert.fail()
    await database.rows(`update key_limit set ${state} where id = $1`, [id])
    const instance = await addInstance()
    const answers = await callExchange(instance, 2, [], now, [{ id, ...none, ...asked }])
    assert.deepEqual(answers, [{ id, granted }], `${Object.values(limit).join(' ')}, ${state}`)
    await clearLimits(database, model, key)
    await reap(instance)
  }
})

test('an allowance needs a hundred times as much after the charges of the same call, which begin a new day and month', async () => {
  const now = BigInt(Date.UTC(2026, 2, 15)) * 1000n
  const asked = { atHand: 2n, cost: 7n, need: 10n, moreCredit: 14n, moreRequests: 2n, moreTokens: 20n }
  const none = { requestsBack: 0n, tokensBack: 0n, held: 0n, credit: 0n, requests: 0n, tokens: 0n }
  for (const [room, granted] of [
    [1400n, true],
    [1399n, false],
  ] as const) {
    for (const budget of ['dailyBudget', 'monthlyBudget']) {
      const model = createTillModel()
      const account = await addAccount(now, { credited: room + 50n, monthlyLimit: null }, large)
      const [key = unknownKey] = await addKeys(database, account.id)
      await changeLimit(database, model, key, { ...noLimit, [budget]: room + 50n }, now)
      const id = model.limits.get(key)?.id ?? assert.fail()
      await database.rows(
        `update key_limit set day = '2026-02-14', month = '2026-02-01', day_charged = 900, month_charged = 1000 where id = $1`,
        [id],
      )
      const instance = await addInstance()
      const charges = [{ id: randomUUIDv7(), key, cost: 50n }]
      const report = { account: account.id, charges, ...none, ...asked }
      const answers = await callExchange(instance, 2, [report], now, [{ id, ...none, ...asked }])
      const decided = [account.id, id].map((each) => ({ id: each, granted }))
      assert.deepEqual(byId(answers), byId(decided), `${budget} ${room}`)
      const [spent] = await database.rows('select day_charged, month_charged from key_limit where id = $1', [id])
      assert.deepEqual(spent, { day_charged: 50n, month_charged: 50n })
      await reap(instance)
      await clearLimits(database, model, key)
    }
  }
})

test('A22: an idempotency key is kept for 24 hours, to the microsecond', async () => {
  const start = BigInt(Date.UTC(2026, 0, 1)) * 1000n
  const account = await addAccount(start, { credited: 1_000_000n, monthlyLimit: null }, large)
  const instance = await addInstance()
  const request = () => ({
    hold: randomUUIDv7(),
    account: account.id,
    key: unknownKey,
    holds: true,
    input: 1,
    output: 1,
    least: undefined,
    inputPrice: 1n,
    outputPrice: 2n,
    idem: 'k',
    hash: 'a',
    again: false,
    cachedPrice: null,
    cacheWritePrice: null,
  })
  const used = { input: 1, output: 1, cached: 0, cacheWrite: 0, stop: 'complete', body: '{}' }
  const first = request()
  await callTill(instance, 1, [], [first], start)
  await callTill(instance, 2, [{ ...used, hold: first.hold }], [], start)
  const outcomeAt = async (batch: number, later: bigint) =>
    (await callTill(instance, batch, [], [request()], start + later))[0]?.outcome
  const day = 86_400_000_000n
  assert.equal(await outcomeAt(3, day - 1n), 'replay')
  assert.equal(await outcomeAt(4, day), 'admitted')
  await reap(instance)
})

test('an account counts the charges since the first of the month, even if the clock moves back and forth across it', async () => {
  const late = BigInt(Date.UTC(2026, 1, 28, 23, 59, 59)) * 1000n
  const turned = BigInt(Date.UTC(2026, 2, 1)) * 1000n
  const account = await addAccount(late, { credited: 0n, monthlyLimit: 10_000n }, large)
  const instance = await addInstance()
  const nothing = {
    requestsBack: 0n,
    tokensBack: 0n,
    held: 0n,
    credit: 0n,
    requests: 0n,
    tokens: 0n,
  }
  const asked = {
    atHand: 0n,
    cost: 0n,
    need: 0n,
    moreCredit: 0n,
    moreRequests: 0n,
    moreTokens: 0n,
  }
  const charge = (cost: bigint) => [
    { account: account.id, charges: [{ id: randomUUIDv7(), key: unknownKey, cost }], ...nothing, ...asked },
  ]
  const books = async () => {
    const [row] = await database.rows('select month, month_charged, charged from account where id = $1', [account.id])
    return row
  }
  await callExchange(instance, 1, charge(500n), turned)
  await callExchange(instance, 2, charge(70n), late)
  assert.deepEqual(await books(), { month: '2026-02-01', month_charged: 570n, charged: 570n })
  await callExchange(instance, 3, charge(0n), turned)
  assert.deepEqual(await books(), { month: '2026-03-01', month_charged: 500n, charged: 570n })
  const days = await database.rows('select day, cost from usage_day where account_id = $1 order by day', [account.id])
  assert.deepEqual(days, [
    { day: '2026-02-28', cost: 70n },
    { day: '2026-03-01', cost: 500n },
  ])
  await reap(instance)
})

/** How often each outcome occurred, and the outcomes that must occur often for a meaningful test. */
const outcomes = new Map<string, number>()
const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
const often = [
  'cut output',
  'cut input',
  'cut kinds',
  'admitted',
  'requests',
  'tokens',
  'credit_held',
  'insufficient_credit',
  'never_fits',
  'replay',
]
const sometimes = ['key_month', 'key_day', 'key_held', 'key_requests', 'key_tokens', 'key_never_fits']
const decisions = ['account granted', 'account not granted', 'key granted', 'key not granted', 'taken by a key']
const bindings = [
  ...often.map((each) => [each, 5] as const),
  ...sometimes.map((each) => [each, 2] as const),
  ...decisions.map((each) => [each, 5] as const),
]

/** Runs one history on the database and on the model, and compares results and accounts after each step. */
async function playHistory(steps: readonly Step[]): Promise<void> {
  const model = createTillModel()
  const instances = [await addInstance(), await addInstance(), await addInstance()]
  const start = BigInt(Date.UTC(2026, 0, 31, 23, 0)) * 1000n
  const accounts = [
    await addAccount(start, { credited: 1200n, monthlyLimit: null }, { requestsPerMinute: 3, tokensPerMinute: 2000 }),
    await addAccount(start, { credited: 0n, monthlyLimit: 4000n }, { requestsPerMinute: 9, tokensPerMinute: 80 }),
    await addAccount(start, { credited: 0n, monthlyLimit: null }),
    // A hundred times 4 requests of 60 tokens at 7 a token, exactly.
    await addAccount(start, { credited: 168_000n, monthlyLimit: null }, large),
    await addAccount(start, { credited: 0n, monthlyLimit: 168_000n }, large),
  ]
  for (const account of accounts) model.accounts.set(account.id, account)
  const keys = new Map<string, readonly string[]>()
  for (const { id } of accounts) keys.set(id, await addKeys(database, id))
  for (const [index, { own, shared }] of firstLimits.entries()) {
    const [, one = unknownKey, other = unknownKey] = keys.get(accounts[index]?.id ?? '') ?? []
    await changeLimit(database, model, one, { ...noLimit, ...own }, start)
    await changeLimit(database, model, other, { ...noLimit, ...shared }, start)
  }
  const known: string[] = []
  const desks = instances.map(() => new Map<string, Desk>())
  const allKeys = [...keys.values()].flat()
  /** The limits that keys had. */
  const removed = new Map<string, string>()
  let now = start
  let number = 0
  for (const step of steps) {
    if (step.kind === 'batch') {
      now += BigInt(step.later)
      const instance = instances[step.instance]
      assert.ok(instance)
      const settlements = settlementsOf(step.settle, known, model.holds)
      const settled = new Set(settlements.map(({ hold }) => hold))
      const held = [...model.holds.keys()].filter((hold) => !settled.has(hold))
      const admissions = admissionsOf(step.admit, { accounts, keys }, held, number++)
      known.push(...admissions.filter(({ holds }) => holds).map(({ hold }) => hold))
      const expected = model.batch(instance, settlements, admissions, now)
      const actual = await callTill(instance, ++number, settlements, admissions, now)
      assert.deepEqual(sorted(actual), sorted(expected))
      for (const { outcome } of expected) count(outcome)
      for (const [index, { input, output, cached, cacheWrite }] of settlements.entries()) {
        const charged = expected.find(({ id }) => id === settlements[index]?.hold)
        if (charged?.outcome !== 'settled') continue
        if ((charged.output ?? 0) < output) count('cut output')
        const prompt = input + cached + cacheWrite
        if ((charged.input ?? 0) < prompt) count(cached > 0 || cacheWrite > 0 ? 'cut kinds' : 'cut input')
      }
    } else if (step.kind === 'exchange') {
      now += BigInt(step.later)
      const [instance, desk] = [instances[step.instance], desks[step.instance]]
      assert.ok(instance && desk)
      const ended: Flight[] = []
      const reports = step.renew.flatMap((renew) => reportOf(renew, { accounts, keys }, { desks: desk, ended }))
      const limits = new Map(
        step.renewKeys.flatMap((renew) => {
          const key = allKeys[renew.key] ?? unknownKey
          const id = model.limits.get(key)?.id ?? removed.get(key)
          return id === undefined ? [] : [[id, renew] as const]
        }),
      )
      const keyReports = [...limits].map(([id, renew]) => keyReportOf(id, renew, deskOf(desk, id)))
      const expected = model.exchange(instance, reports, now, keyReports)
      assert.deepEqual(byId(await callExchange(instance, ++number, reports, now, keyReports)), byId(expected))
      for (const flight of ended) returnToKey(flight)
      for (const { id, granted } of expected) {
        const report = [...reports.map((each) => ({ ...each, id: each.account })), ...keyReports].find(
          (each) => each.id === id,
        )
        assert.ok(report)
        count(`${keyReports.some((each) => each.id === id) ? 'key' : 'account'} ${granted ? 'granted' : 'not granted'}`)
        if (granted) receive(deskOf(desk, id), report)
      }
      for (const { id } of keyReports) if (!expected.some((each) => each.id === id)) desk.delete(id)
    } else if (step.kind === 'take') {
      const mine = desks[step.instance]
      const account = accounts[step.account]?.id ?? ''
      const key = keys.get(account)?.[step.key] ?? unknownKey
      const limit = model.limits.get(key)
      const desk = mine?.get(account)
      if (mine && desk) takeFrom(desk, step.share, key, limit && deskOf(mine, limit.id))
    } else if (step.kind === 'crash') {
      const dead = instances[step.instance]
      assert.ok(dead)
      model.reap(dead)
      await reap(dead)
      instances[step.instance] = await addInstance()
      desks[step.instance]?.clear()
    } else if (step.kind === 'limit') {
      const key = allKeys[step.key] ?? unknownKey
      const had = model.limits.get(key)
      if (!step.to && had) for (const [each, its] of model.limits) if (its === had) removed.set(each, its.id)
      if (step.to) await changeLimit(database, model, key, step.to, now)
      else await clearLimits(database, model, key)
    } else await change(step, accounts)
    for (const account of accounts) assert.deepEqual(await readAccount(account.id), account)
    const limits = [...new Set(model.limits.values())].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    assert.deepEqual(await readLimits(database, [...keys.keys()]), limits)
    for (const [index, instance] of instances.entries()) {
      for (const [limit, { held, credit, requests, tokens }] of model.keyAllowances.get(instance) ?? []) {
        const desk = deskOf(desks[index] ?? new Map<string, Desk>(), limit.id)
        assert.ok(desk.credit + sumOf(desk, 'cost') <= held + credit, 'it has no more credit than it was lent')
        assert.ok(desk.requests <= requests && desk.tokens + sumOf(desk, 'need') <= tokens, 'nor requests and tokens')
      }
    }
    for (const account of accounts) assert.ok(account.monthlyLimit !== null || creditLeft(account) >= 0n)
  }
  for (const instance of instances) await reap(instance)
  const settled = [...model.ledger].flatMap(([id, { kinds }]) => (kinds ? [{ id, ...kinds }] : []))
  assert.deepEqual(byId(await readKinds(settled.map(({ id }) => id))), byId(settled))
}

const readKinds = (ids: readonly string[]) =>
  database.rows<ModelKinds & { id: string }>(
    `select request_id as id, input_tokens as input, output_tokens as output, cached_tokens as cached,
       cache_write_tokens as "cacheWrite", uncharged_input as "unchargedInput", uncharged_output as "unchargedOutput"
     from ledger where request_id = any($1)`,
    [ids],
  )

/** The keys of each account. */
type Keys = ReadonlyMap<string, readonly string[]>
const unknownKey = '00000000-0000-0000-0000-000000000001'
const noLimit = { requestsPerMinute: null, tokensPerMinute: null, dailyBudget: null, monthlyBudget: null }
/** Of two keys of the first accounts. */
const firstLimits: readonly Readonly<Record<'own' | 'shared', Partial<LimitChange>>>[] = [
  { own: { tokensPerMinute: 75 }, shared: { dailyBudget: 700n } },
  { own: { requestsPerMinute: 1 }, shared: { dailyBudget: 1000n, monthlyBudget: 500n } },
  { own: { tokensPerMinute: 90 }, shared: { tokensPerMinute: 90 } },
  // Their requests are also charged by exchanges: they were admitted before the keys had limits.
  { own: { dailyBudget: 900n }, shared: { requestsPerMinute: 400, tokensPerMinute: 24_000, dailyBudget: 168_000n } },
  { own: { tokensPerMinute: 24_001, monthlyBudget: 168_001n }, shared: { dailyBudget: 900n } },
]
const large = { requestsPerMinute: 400, tokensPerMinute: 24_000 }
const creditLeft = ({ credited, charged, held, creditLent }: ModelAccount): bigint =>
  credited - charged - held - creditLent
const byId = <Row extends { id: string }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
const sorted = (answers: readonly ModelAnswer[]) => answers.toSorted((a, b) => (a.id < b.id ? -1 : 1))

function admissionsOf(
  asked: readonly Admit[],
  { accounts, keys }: { readonly accounts: readonly ModelAccount[]; readonly keys: Keys },
  held: readonly string[],
  seed: number,
) {
  const taken = new Set<string>()
  return asked.flatMap((item, index): ModelAdmission[] => {
    const earlier = item.again ? held[(item.input + seed) % (held.length || 1)] : undefined
    const hold = earlier !== undefined && !taken.has(earlier) ? earlier : randomUUIDv7()
    taken.add(hold)
    const account = accounts[item.account]?.id ?? randomUUID()
    const idem = item.holds && item.idem < 3 ? `k${item.idem}` : undefined
    const { holds, hash } = item
    const sizes = holds ? { input: item.input, output: item.output } : { input: 0, output: 0 }
    return [
      {
        hold,
        account,
        key: keys.get(account)?.[item.key] ?? unknownKey,
        holds,
        ...sizes,
        least: holds ? item.least : undefined,
        inputPrice: BigInt(index + 1),
        outputPrice: BigInt(index + 5),
        cachedPrice: dearer(index + 1, item.cached),
        cacheWritePrice: dearer(index + 1, item.written),
        idem,
        hash,
        again: hold === earlier,
      },
    ]
  })
}

/** A price that much above another, and not below zero. */
const dearer = (price: number, by: number | null): bigint | null =>
  by === null ? null : BigInt(Math.max(0, price + by))

/** The share of a whole, rounded to hundredths. */
const part = (whole: bigint, share: number): bigint => (whole * BigInt(Math.round(share * 100))) / 100n
const lack = (whole: bigint, has: bigint): bigint => (whole > has ? whole - has : 0n)

/** A request that was admitted from allowances. */
interface Flight {
  readonly cost: bigint
  readonly need: bigint
  readonly key: string | undefined
  /** The allowance of the limits of its key. */
  readonly of: Desk | undefined
  paid: bigint
  used: bigint
}

/** One instance's allowance of one account, or of the limits of one key. A correct instance never has more than the database lent. */
interface Desk {
  credit: bigint
  requests: bigint
  tokens: bigint
  flights: Flight[]
}

function deskOf(desks: Map<string, Desk>, id: string): Desk {
  const desk = desks.get(id) ?? { credit: 0n, requests: 0n, tokens: 0n, flights: [] }
  desks.set(id, desk)
  return desk
}

const sumOf = ({ flights }: Desk, what: 'cost' | 'need'): bigint =>
  flights.reduce((sum, flight) => sum + flight[what], 0n)

/** Admits a request that takes a share of the allowance, and of that of the limits of its key. */
function takeFrom(desk: Desk, share: number, key: string, of: Desk | undefined): void {
  if (desk.requests === 0n || of?.requests === 0n) return
  const cost = part(lesser(desk.credit, of?.credit ?? desk.credit), share)
  const need = part(lesser(desk.tokens, of?.tokens ?? desk.tokens), share)
  const flight = { cost, need, key: of && key, of, paid: 0n, used: 0n }
  for (const each of of ? [desk, of] : [desk]) {
    each.requests -= 1n
    each.credit -= cost
    each.tokens -= need
    each.flights.push(flight)
  }
  if (of) count('taken by a key')
}

/** What the request did not use stays with the instance. */
function returnToKey(flight: Flight): void {
  const { of } = flight
  if (of === undefined) return
  of.flights = of.flights.filter((each) => each !== flight)
  of.credit += flight.cost - flight.paid
  of.tokens += flight.need - flight.used
}

/** The share of a desk that is kept. */
function keptOf(desk: Desk, share: number) {
  return { credit: part(desk.credit, share), requests: part(desk.requests, share), tokens: part(desk.tokens, share) }
}

function keyReportOf(id: string, renew: RenewKey, desk: Desk): ModelKeyReport {
  const keep = keptOf(desk, renew.keep)
  const back = { requests: desk.requests - keep.requests, tokens: desk.tokens - keep.tokens }
  Object.assign(desk, keep)
  const [atHand, need] = [BigInt(renew.atHand), BigInt(renew.need)]
  const cost = need * 7n
  return {
    id,
    requestsBack: back.requests,
    tokensBack: back.tokens,
    held: sumOf(desk, 'cost'),
    credit: keep.credit,
    requests: keep.requests,
    tokens: keep.tokens + sumOf(desk, 'need'),
    atHand,
    cost,
    need,
    moreCredit: lack(atHand * cost, keep.credit),
    moreRequests: lack(atHand, keep.requests),
    moreTokens: lack(atHand * need, keep.tokens),
  }
}

function reportOf(
  renew: Renew,
  { accounts, keys }: { readonly accounts: readonly ModelAccount[]; readonly keys: Keys },
  { desks, ended: all }: { readonly desks: Map<string, Desk>; readonly ended: Flight[] },
): ModelReport[] {
  const account = accounts[renew.account]?.id
  if (account === undefined) return []
  const desk = deskOf(desks, account)
  const ended = desk.flights.splice(0, renew.ending)
  all.push(...ended)
  if (renew.charged) {
    for (const flight of ended) {
      Object.assign(flight, { paid: part(flight.cost, renew.used), used: part(flight.need, renew.used) })
    }
  }
  const keep = keptOf(desk, renew.keep)
  const unused = ended.reduce((sum, { need }) => sum + need - (renew.charged ? part(need, renew.used) : 0n), 0n)
  const back = {
    requests: desk.requests - keep.requests,
    tokens: desk.tokens - keep.tokens + unused,
  }
  Object.assign(desk, keep)
  const [atHand, need] = [BigInt(renew.atHand), BigInt(renew.need)]
  const cost = need * 7n
  return [
    {
      account,
      charges: renew.charged
        ? ended.map((flight, index) => {
            // Of keys without an allowance: they were admitted before the keys had limits.
            const key = flight.key ?? keys.get(account)?.[index + 1] ?? unknownKey
            return { id: randomUUIDv7(), key, cost: flight.paid }
          })
        : [],
      requestsBack: back.requests,
      tokensBack: back.tokens,
      held: desk.flights.reduce((sum, flight) => sum + flight.cost, 0n),
      ...keep,
      atHand,
      cost,
      need,
      moreCredit: lack(atHand * cost, keep.credit),
      moreRequests: lack(atHand, keep.requests),
      moreTokens: lack(atHand * need, keep.tokens),
    },
  ]
}

/** Adds a granted request for more to the allowance. */
function receive(desk: Desk, more: Pick<ModelReport, 'moreCredit' | 'moreRequests' | 'moreTokens'>): void {
  desk.credit += more.moreCredit
  desk.requests += more.moreRequests
  desk.tokens += more.moreTokens
}

/** A row literal of unquoted columns; an empty text is NULL. */
const rowOf = (columns: readonly (string | number | bigint)[]): string => `(${columns.join(',')})`

/** What reports on an account and on a key have in common. */
const reported = (report: Omit<ModelReport, 'account' | 'charges'>) => [
  report.requestsBack,
  report.tokensBack,
  report.held,
  report.credit,
  report.requests,
  report.tokens,
  report.atHand,
  report.cost,
  report.need,
  report.moreCredit,
  report.moreRequests,
  report.moreTokens,
]

async function callExchange(
  instance: string,
  batch: number,
  reports: readonly ModelReport[],
  now: bigint,
  keyReports: readonly ModelKeyReport[] = [],
) {
  const said = reports.map((report) =>
    rowOf([report.account, report.charges.reduce((sum, { cost }) => sum + cost, 0n), ...reported(report)]),
  )
  // Version 0.2.0 calls exchange(), which has no cached tokens.
  const timed = batch % 2 === 0 || keyReports.length > 0
  const charges = reports.flatMap(({ account, charges: paid }) =>
    paid.map(({ id, key, cost }) => {
      const common = [id, account, key, '', 'm', '']
      const end = [1, 2, cost, 'complete', 'model', 0, 0]
      if (!timed) return rowOf([...common, cost, 0, ...end])
      const [cached, written, tags] = [cost / 5n, cost / 4n, cost % 2n === 0n ? '{}' : '']
      return rowOf([...common, cost - cached - 2n * written, 0, ...end, 1, cached || '', written || '', '', 2, tags])
    }),
  )
  const saidOfKeys = keyReports.map((report) => rowOf([report.id, ...reported(report)]))
  // Charges may come before the reports, with a number of their own, and may be folded before.
  const early = timed && batch % 4 === 0
  if (early) {
    await database.rows('select append_charges($1, $2, $3, $4)', [instance, 2 * batch - 1, charges, timestamp(now)])
    if (batch % 8 === 0) await database.rows('select fold_charges()')
  }
  const values = [instance, 2 * batch, said, early ? [] : charges, timestamp(now)]
  return timed
    ? database.rows<{ id: string; granted: boolean }>(
        'select id, granted from exchange_timed($1, $2, $3, $4, $6, $5)',
        [...values, saidOfKeys],
      )
    : database.rows<{ id: string; granted: boolean }>('select id, granted from exchange($1, $2, $3, $4, $5)', values)
}

function settlementsOf(
  asked: readonly Settle[],
  known: readonly string[],
  holds: ReadonlyMap<string, { inputTokens: number; maxOutputTokens: number }>,
) {
  const taken = new Set<string>()
  return asked.flatMap((item): ModelSettlement[] => {
    const hold = known.length === 0 ? randomUUIDv7() : (known[item.pick % known.length] ?? '')
    if (taken.has(hold)) return []
    taken.add(hold)
    const held = holds.get(hold)
    const stop = item.charged ? 'complete' : undefined
    const body = item.charged && item.answered ? `{"text":"${item.pick}"}` : undefined
    const output = Math.floor(item.used * (held?.maxOutputTokens ?? 9))
    const prompt = (held?.inputTokens ?? 3) + item.more
    const cached = Math.floor(prompt * item.cached)
    const cacheWrite = Math.floor((prompt - cached) * item.written)
    return [{ hold, input: prompt - cached - cacheWrite, output, cached, cacheWrite, stop, body }]
  })
}

async function callTill(
  instance: string,
  batch: number,
  settlements: readonly ModelSettlement[],
  admissions: readonly ModelAdmission[],
  now: bigint,
): Promise<ModelAnswer[]> {
  const settle = settlements.map(({ stop, cached, cacheWrite, ...item }) => ({
    ...item,
    // As the service, and version 0.2.0, send them.
    cached: cached || undefined,
    cache_write: cacheWrite || undefined,
    stop,
    source: 'model',
    tags: item.input % 3 === 0 ? { third: 'yes' } : undefined,
  }))
  const admit = admissions.map((item) => ({
    hold: item.hold,
    account: item.account,
    key: item.key,
    model: item.holds ? 'm' : undefined,
    input: item.input,
    output: item.output,
    least: item.least,
    input_price: String(item.inputPrice),
    output_price: String(item.outputPrice),
    cached_price: item.cachedPrice?.toString(),
    cache_write_price: item.cacheWritePrice?.toString(),
    idem: item.idem,
    hash: item.hash,
    requests: 1,
    again: item.again,
  }))
  return database.rows<ModelAnswer>(
    `select id, outcome, wait_us as "waitUs", body, charged_input as input, charged_output as output
     from till($1, $2, $3, $4, $5)`,
    [instance, 2 * batch, JSON.stringify(settle), JSON.stringify(admit), timestamp(now)],
  )
}

const timestamp = (micros: bigint): string =>
  `${new Date(Number(micros / 1000n)).toISOString().slice(0, -1)}${String(((micros % 1000n) + 1000n) % 1000n).padStart(3, '0')}Z`

async function addInstance(): Promise<string> {
  const id = randomUUID()
  await database.rows('insert into instance (id, host) values ($1, $2)', [id, 'test'])
  return id
}

async function reap(instance: string): Promise<void> {
  const rows = await database.rows('select reap(id, last_batch) as reaped from instance where id = $1', [instance])
  assert.deepEqual(rows, [{ reaped: true }])
}

async function addAccount(
  now: bigint,
  credit: Pick<ModelAccount, 'credited' | 'monthlyLimit'>,
  limits = { requestsPerMinute: 9, tokensPerMinute: 200 },
): Promise<ModelAccount> {
  const levels = {
    requestLevel: BigInt(limits.requestsPerMinute) * 60_000_000n,
    tokenLevel: BigInt(limits.tokensPerMinute) * 60_000_000n,
    levelAt: now,
  }
  const lent = { creditLent: 0n, requestsLent: 0n, tokensLent: 0n, recalledAt: null }
  const charged = { charged: 0n, held: 0n, month: monthOf(now), monthCharged: 0n, ...lent }
  const account: ModelAccount = {
    id: randomUUID(),
    open: true,
    ...limits,
    ...credit,
    ...charged,
    ...levels,
  }
  await database.rows(
    `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, credited, month,
       request_level, token_level, level_at) values ($1, $1::uuid::text, $6, $7, $2, $3, $4, $8, $9, $5)`,
    [
      account.id,
      account.monthlyLimit,
      account.credited,
      account.month,
      timestamp(now),
      account.requestsPerMinute,
      account.tokensPerMinute,
      account.requestLevel,
      account.tokenLevel,
    ],
  )
  if (account.credited > 0n) await addEntry(account.id, account.credited)
  return account
}

async function addEntry(account: string, amount: bigint): Promise<void> {
  await database.rows('insert into credit_entry (id, account_id, amount) values ($1, $2, $3)', [
    randomUUID(),
    account,
    amount,
  ])
}

async function change(
  step: Exclude<Step, { kind: 'batch' | 'crash' | 'exchange' | 'take' | 'limit' }>,
  accounts: readonly ModelAccount[],
): Promise<void> {
  const account = accounts[step.account]
  assert.ok(account)
  if (step.kind === 'credit' && step.amount > 0) {
    account.credited += BigInt(step.amount)
    await addEntry(account.id, BigInt(step.amount))
  } else if (step.kind === 'change') {
    const { requestsPerMinute, tokensPerMinute } = step
    // As accounts.setLimits() does: no bucket is ever above its limit.
    const requestLevel = lesser(account.requestLevel, BigInt(requestsPerMinute) * 60_000_000n)
    const tokenLevel = lesser(account.tokenLevel, BigInt(tokensPerMinute) * 60_000_000n)
    Object.assign(account, { requestsPerMinute, tokensPerMinute, requestLevel, tokenLevel })
  } else if (step.kind === 'open') account.open = step.open
  await database.rows(
    `update account set credited = $2, status = $3, requests_per_minute = $4, tokens_per_minute = $5, request_level = $6,
       token_level = $7 where id = $1`,
    [
      account.id,
      account.credited,
      account.open ? 'open' : 'closed',
      account.requestsPerMinute,
      account.tokensPerMinute,
      account.requestLevel,
      account.tokenLevel,
    ],
  )
}

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other)

async function readAccount(id: string): Promise<ModelAccount> {
  const [row] = await database.rows<ModelAccount>(
    `select id, status = 'open' as open, requests_per_minute as "requestsPerMinute",
       tokens_per_minute as "tokensPerMinute", monthly_limit as "monthlyLimit", credited, charged, held, month,
       month_charged as "monthCharged", request_level as "requestLevel", token_level as "tokenLevel",
       (extract(epoch from level_at) * 1000000)::bigint as "levelAt", credit_lent as "creditLent",
       requests_lent as "requestsLent", tokens_lent as "tokensLent",
       (extract(epoch from recalled_at) * 1000000)::bigint as "recalledAt"
     from account where id = $1`,
    [id],
  )
  assert.ok(row)
  return row
}
