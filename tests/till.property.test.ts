import assert from 'node:assert/strict'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import pino from 'pino'
import { verifyBooks } from '../src/billing/verify.ts'
import { openDatabase, type Database } from '../src/platform/database.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import {
  createTillModel,
  monthOf,
  type ModelAccount,
  type ModelAdmission,
  type ModelAnswer,
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
  | { readonly kind: 'credit'; readonly account: number; readonly amount: number }
  | { readonly kind: 'open'; readonly account: number; readonly open: boolean }
  | { readonly kind: 'crash'; readonly instance: number }

interface Settle {
  readonly pick: number
  readonly used: number
  readonly charged: boolean
  readonly answered: boolean
}

interface Admit {
  readonly account: number
  readonly input: number
  readonly output: number
  readonly holds: boolean
  readonly idem: number
  readonly hash: string
  /** Sends the hold of an earlier step again, as after a lost connection. */
  readonly again: boolean
}

const anySettle: fc.Arbitrary<Settle> = fc.record({
  pick: fc.nat(40),
  used: fc.double({ min: 0, max: 1, noNaN: true }),
  charged: fc.boolean(),
  answered: fc.boolean(),
})
const anyAdmit: fc.Arbitrary<Admit> = fc.record({
  account: fc.nat(3),
  input: fc.nat(30),
  output: fc.integer({ min: 1, max: 60 }),
  holds: fc.boolean(),
  idem: fc.nat(5),
  hash: fc.constantFrom('a', 'b'),
  again: fc.boolean(),
})
const minute = 60_000_000
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      instance: fc.nat(2),
      later: fc.oneof(fc.nat(2 * minute), fc.constantFrom(0, 1, -5_000_000, 25 * 60 * minute, 40 * 24 * 60 * minute)),
      settle: fc.array(anySettle, { maxLength: 6 }),
      admit: fc.array(anyAdmit, { maxLength: 8 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      account: fc.nat(2),
      requestsPerMinute: fc.integer({ min: 1, max: 20 }),
      tokensPerMinute: fc.integer({ min: 1, max: 300 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('credit' as const), account: fc.nat(2), amount: fc.nat(20_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('open' as const), account: fc.nat(2), open: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), instance: fc.nat(2) }) },
)

let home: TestDatabase
let database: Database

before(async () => {
  home = await createTestDatabase()
  database = openDatabase(home.url, { log: pino({ level: 'silent' }) })
})
after(async () => {
  await database.close()
  await home.drop()
})

test('till() does what its model does, on any history of any three instances', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 25 }), playHistory), { numRuns: 150 })
  const books = await verifyBooks(database)
  assert.deepEqual(
    books.checks.filter(({ ok, name }) => !ok && !name.includes('its key')),
    [],
  )
})

/** Plays one history on the database and on the model, and compares answers and accounts after each step. */
async function playHistory(steps: readonly Step[]): Promise<void> {
  const model = createTillModel()
  const instances = [await addInstance(), await addInstance(), await addInstance()]
  const start = BigInt(Date.UTC(2026, 0, 31, 23, 0)) * 1000n
  const accounts = [
    await addAccount(start, { credited: 30_000n, monthlyLimit: null }),
    await addAccount(start, { credited: 0n, monthlyLimit: 25_000n }),
    await addAccount(start, { credited: 0n, monthlyLimit: null }),
  ]
  for (const account of accounts) model.accounts.set(account.id, account)
  const known: string[] = []
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
      const admissions = admissionsOf(step.admit, accounts, held, number++)
      known.push(...admissions.filter(({ holds }) => holds).map(({ hold }) => hold))
      const expected = model.batch(instance, settlements, admissions, now)
      const actual = await callTill(instance, ++number, settlements, admissions, now)
      assert.deepEqual(sorted(actual), sorted(expected))
    } else if (step.kind === 'crash') {
      const dead = instances[step.instance]
      assert.ok(dead)
      model.reap(dead)
      await reap(dead)
      instances[step.instance] = await addInstance()
    } else await change(step, accounts)
    for (const account of accounts) assert.deepEqual(await readAccount(account.id), account)
    for (const account of accounts) assert.ok(account.monthlyLimit !== null || creditLeft(account) >= 0n)
  }
  for (const instance of instances) await reap(instance)
}

const creditLeft = (account: ModelAccount): bigint => account.credited - account.charged - account.held
const sorted = (answers: readonly ModelAnswer[]) => answers.toSorted((a, b) => (a.id < b.id ? -1 : 1))

function admissionsOf(
  asked: readonly Admit[],
  accounts: readonly ModelAccount[],
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
        holds,
        ...sizes,
        inputPrice: BigInt(index + 1),
        outputPrice: BigInt(index + 5),
        idem,
        hash,
        again: hold === earlier,
      },
    ]
  })
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
    return [{ hold, input: held?.inputTokens ?? 3, output, stop, body }]
  })
}

async function callTill(
  instance: string,
  batch: number,
  settlements: readonly ModelSettlement[],
  admissions: readonly ModelAdmission[],
  now: bigint,
): Promise<ModelAnswer[]> {
  const settle = settlements.map(({ stop, ...item }) => ({ ...item, stop, source: 'model' }))
  const admit = admissions.map((item) => ({
    hold: item.hold,
    account: item.account,
    key: '00000000-0000-0000-0000-000000000001',
    model: item.holds ? 'm' : undefined,
    input: item.input,
    output: item.output,
    input_price: String(item.inputPrice),
    output_price: String(item.outputPrice),
    idem: item.idem,
    hash: item.hash,
    requests: 1,
    again: item.again,
  }))
  return database.rows<ModelAnswer>('select id, outcome, wait_us as "waitUs", body from till($1, $2, $3, $4, $5)', [
    instance,
    batch,
    JSON.stringify(settle),
    JSON.stringify(admit),
    timestamp(now),
  ])
}

const timestamp = (micros: bigint): string =>
  `${new Date(Number(micros / 1000n)).toISOString().slice(0, -1)}${String(((micros % 1000n) + 1000n) % 1000n).padStart(3, '0')}Z`

async function addInstance(): Promise<string> {
  const id = randomUUID()
  await database.rows('insert into instance (id, host) values ($1, $2)', [id, 'test'])
  return id
}

async function reap(instance: string): Promise<void> {
  await database.rows(`update instance set seen_at = '-infinity' where id = $1`, [instance])
  const [row] = await database.rows<{ reaped: string }>(`select reap('1 hour') as reaped`)
  assert.equal(row?.reaped, instance)
}

async function addAccount(now: bigint, credit: Pick<ModelAccount, 'credited' | 'monthlyLimit'>): Promise<ModelAccount> {
  const limits = { requestsPerMinute: 9, tokensPerMinute: 200 }
  const levels = { requestLevel: 540_000_000n, tokenLevel: 12_000_000_000n, levelAt: now }
  const charged = { charged: 0n, held: 0n, month: monthOf(now), monthCharged: 0n }
  const account: ModelAccount = { id: randomUUID(), open: true, ...limits, ...credit, ...charged, ...levels }
  await database.rows(
    `insert into account (id, name, requests_per_minute, tokens_per_minute, monthly_limit, credited, month,
       request_level, token_level, level_at) values ($1, 'a', 9, 200, $2, $3, $4, 540000000, 12000000000, $5)`,
    [account.id, account.monthlyLimit, account.credited, account.month, timestamp(now)],
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
  step: Exclude<Step, { kind: 'batch' | 'crash' }>,
  accounts: readonly ModelAccount[],
): Promise<void> {
  const account = accounts[step.account]
  assert.ok(account)
  if (step.kind === 'credit' && step.amount > 0) {
    account.credited += BigInt(step.amount)
    await addEntry(account.id, BigInt(step.amount))
  } else if (step.kind === 'change') {
    Object.assign(account, { requestsPerMinute: step.requestsPerMinute, tokensPerMinute: step.tokensPerMinute })
  } else if (step.kind === 'open') account.open = step.open
  await database.rows(
    'update account set credited = $2, status = $3, requests_per_minute = $4, tokens_per_minute = $5 where id = $1',
    [
      account.id,
      account.credited,
      account.open ? 'open' : 'closed',
      account.requestsPerMinute,
      account.tokensPerMinute,
    ],
  )
}

async function readAccount(id: string): Promise<ModelAccount> {
  const [row] = await database.rows<ModelAccount>(
    `select id, status = 'open' as open, requests_per_minute as "requestsPerMinute",
       tokens_per_minute as "tokensPerMinute", monthly_limit as "monthlyLimit", credited, charged, held, month,
       month_charged as "monthCharged", request_level as "requestLevel", token_level as "tokenLevel",
       (extract(epoch from level_at) * 1000000)::bigint as "levelAt"
     from account where id = $1`,
    [id],
  )
  assert.ok(row)
  return row
}
