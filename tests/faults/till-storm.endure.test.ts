import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { byService } from '../../src/access/actor.ts'
import { createKeys } from '../../src/accounts/keys/keys.ts'
import { createTill } from '../../src/billing/till/postgres-till.ts'
import type { HoldRequest, Till } from '../../src/billing/till/till.ts'
import { verifyBooks } from '../../src/billing/verify.ts'
import { openDatabase, type Database } from '../../src/platform/database/database.ts'
import { Problem } from '../../src/platform/problems.ts'
import { losing, type Fate } from '../support/losses.ts'
import { patience } from '../support/database.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { ask, log, openTills, price, reapWhere, used } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { assertVerified } from '../support/verified.ts'
import type { Payer } from '../../src/billing/payer.ts'

// Three instances, many accounts and every kind of fault at once. The oracle records what callers were promised.

/** How many charged requests the storm lasts, and how many lie between two disturbances at most. */
const enough = 700
const calm = 12

type Customer = Payer & {
  readonly requests: number
  readonly tokens: number
  readonly credit: bigint
  /** The most that its key may spend on a day, if it has limits of its own. */
  readonly budget: bigint | undefined
  admitted: number
  charged: bigint
  readonly settled: Set<string>
  /** Requests whose outcome the caller never received. */
  readonly unknown: Set<string>
}

let own: Database[]
let tills: Till[]
const customers: Customer[] = []
let chance = 0
/** Set after a failure, too: otherwise its callers would never stop. */
let isStopped = false

/** Loses a share of the calls, or their answers. */
function anyFate(statement: string): Fate {
  if (!/from (exchange_timed|append_charges)\(/.test(statement) && !statement.includes('from till(')) return 'answered'
  const drawn = Math.random()
  return drawn < chance ? 'answer lost' : drawn < 2 * chance ? 'not sent' : 'answered'
}

const stage = fixture(() => openTills(1))
setUp(async () => {
  own = Array.from({ length: 3 }, () => openDatabase(stage.url, { log, ...patience }))
  tills = await Promise.all(own.map((each) => createTill({ database: losing(each, anyFate), log })))
  for (let index = 0; index < 12; index++) {
    const credit = 10n ** BigInt(8 + (index % 4)) * 3n
    const requests = index % 3 === 0 ? 600 : 60_000
    const tokens = index % 5 === 0 ? 30_000 : 6_000_000
    const payer = await stage.addAccount({ ...(index % 2 ? { credit } : { monthlyLimit: credit }), requests, tokens })
    const budget = index % 4 < 2 ? undefined : credit / 2n
    if (budget !== undefined) Object.assign(payer, { limitId: await limitKey(payer, budget, requests / 2) })
    const counted = { admitted: 0, charged: 0n, settled: new Set<string>(), unknown: new Set<string>() }
    const most = budget === undefined ? requests : requests / 2
    customers.push({ ...payer, requests: most, tokens, credit, budget, ...counted })
  }
})
after(async () => {
  isStopped = true
  await Promise.all(tills.map((till) => till.drain()))
  await Promise.all(own.map((each) => each.close()))
})

/** Gives the payer's key limits of its own, and returns their id. */
async function limitKey({ keyId = assert.fail() }: Payer, dailyBudget: bigint, requestsPerMinute: number) {
  const keys = createKeys({ database: stage.database, log })
  await keys.setLimits(keyId, { dailyBudget, requestsPerMinute }, byService)
  await keys.close()
  const [row] = await stage.database.rows<{ id: string }>('select limit_id as id from api_key where id = $1', [keyId])
  return row?.id
}

const pick = <Of>(list: readonly Of[]): Of => list[Math.floor(Math.random() * list.length)] ?? assert.fail()
const refusals: ReadonlySet<string> = new Set([
  'insufficient_credit',
  'rate_limit_exceeded',
  'unavailable',
  'idempotency_in_progress',
])

/** The code of an expected Problem; any other error fails the test. */
function refused(error: unknown): string {
  if (error instanceof Problem && refusals.has(error.code)) return error.code
  throw error
}

async function request(customer: Customer, till: Till): Promise<void> {
  const idempotency = Math.random() < 0.1 ? { key: `k${Math.floor(Math.random() * 20)}`, hash: 'a' } : undefined
  const first: HoldRequest = ask(customer, { maxOutputTokens: pick([5, 20, 20, 20, 100]), idempotency })
  const admission = await till.admit(first).catch(refused)
  if (typeof admission === 'string') {
    if (admission !== 'unavailable') await sleep(20)
    return
  }
  if (admission.kind === 'replay') return
  customer.admitted += 1
  if (Math.random() < 0.3) await sleep(Math.random() * 100)
  await (Math.random() < 0.15 ? leave(till, first) : pay(customer, till, first))
}

async function leave(till: Till, { requestId, payer }: HoldRequest): Promise<void> {
  await Promise.all([
    till.release(requestId, payer.accountId).catch(refused),
    Math.random() < 0.2 && till.release(requestId, payer.accountId).catch(refused),
  ])
}

async function pay(customer: Customer, till: Till, first: HoldRequest): Promise<void> {
  let paid = price
  if (Math.random() < 0.1) {
    paid = { input: price.input * 2n, output: price.output * 3n }
    const repriced = await till.reprice({ ...first, price: paid }).catch(refused)
    if (typeof repriced === 'string') return leave(till, first)
  }
  const output = Math.floor(Math.random() * (first.maxOutputTokens + 1))
  const answer = first.idempotency && { storedReply: { headers: {}, body: '{}' } }
  const done = await till.settle(first.requestId, first.payer.accountId, used(output, answer)).catch(refused)
  if (typeof done === 'string') {
    customer.unknown.add(first.requestId)
    return
  }
  assert.equal(done.cost, 10n * paid.input + BigInt(output) * paid.output)
  customer.charged += done.cost
  customer.settled.add(first.requestId)
}

/** Checks that no account is ever negative, and no budget ever exceeded. */
async function sample(): Promise<void> {
  const below = await stage.database.rows(
    `select id from account where coalesce(monthly_limit - month_charged, credited - charged) - held - credit_lent < 0`,
  )
  assert.deepEqual(below, [])
  const exceeded = await stage.database.rows('select id from key_limit where day_charged > daily_budget')
  assert.deepEqual(exceeded, [])
}

async function disturb(): Promise<void> {
  const drawn = Math.random()
  if (drawn < 0.5) {
    await stage.database.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'select * from %' and pid <> pg_backend_pid()`,
    )
  } else if (drawn < 0.6) {
    await reapWhere(stage.database, 'id = (select instance_id from key_allowance order by random() limit 1)')
  }
}

const total = () => customers.reduce((sum, { settled }) => sum + settled.size, 0)
const isOver = () => isStopped || total() > enough

async function worker(till: Till): Promise<void> {
  while (!isOver()) await request(pick(customers), till)
}

/** On a slow machine, disturbances by the clock would let nothing finish. */
async function trouble(): Promise<void> {
  while (!isOver()) {
    const next = total() + Math.random() * calm
    while (total() < next && !isOver()) await sleep(5)
    await disturb()
    await sample()
  }
}

/** By the clock that refills the buckets. */
async function databaseMinute(): Promise<number> {
  const [row] = await stage.database.rows<{ at: number }>(
    'select extract(epoch from clock_timestamp())::float8 / 60 as at',
  )
  return row?.at ?? assert.fail()
}

test('A19 lost connections, lost answers and reaped instances: every promised charge is in the ledger once, no limit is exceeded', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => void unhandled.push(error)
  process.on('unhandledRejection', note)
  chance = 0.02
  const start = await databaseMinute()
  await Promise.all([trouble(), ...Array.from({ length: 36 }, (_, index) => worker(tills[index % 3] ?? assert.fail()))])
  chance = 0
  const minutes = (await databaseMinute()) - start
  for (const customer of customers) {
    const most = customer.requests * (1 + minutes)
    assert.ok(customer.admitted <= most, `${customer.admitted} admitted of ${most}`)
    const rows = await stage.ledgerRows(customer)
    const spent = rows.reduce((sum, { cost }) => sum + cost, 0n)
    assert.ok(spent <= (customer.budget ?? spent), `${spent} spent of ${customer.budget}`)
    const known = rows.filter(({ request_id: id }) => !customer.unknown.has(id))
    assert.deepEqual(known.map(({ request_id: id }) => id).toSorted(), [...customer.settled].toSorted())
    assert.equal(
      known.reduce((sum, { cost }) => sum + cost, 0n),
      customer.charged,
    )
    assert.equal((await stage.account(customer)).charged, spent)
  }
  const left = `select from account where (held, credit_lent, requests_lent, tokens_lent) <> (0, 0, 0, 0)`
  await until(async () => (await stage.database.rows(left)).length === 0)
  const leftOfKeys = `select from key_limit where (held, credit_lent, requests_lent, tokens_lent) <> (0, 0, 0, 0)`
  await until(async () => (await stage.database.rows(leftOfKeys)).length === 0)
  await Promise.all(tills.map((till) => till.drain()))
  assertVerified((await verifyBooks(stage.database)).checks)
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})
