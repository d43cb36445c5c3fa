import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { createTill } from '../../src/billing/till/postgres-till.ts'
import type { HoldRequest, Till } from '../../src/billing/till/till.ts'
import { openDatabase, type Database } from '../../src/platform/database/database.ts'
import { losing, type Fate } from '../support/losses.ts'
import { ask, log, mostOfOne, openTills, outcome, reapWhere, used } from '../support/tills.ts'
import { countOwnTime, pass } from '../support/clock.ts'
import { fixture } from '../support/fixture.ts'
import { until } from '../support/until.ts'
import type { Payer } from '../../src/billing/payer.ts'

// What an instance does when it loses a connection, or its life, at the worst moment.

let own: Database
let till: Till
/** The fates of the next calls that end requests from allowances, and of those of till(). */
let fates: Fate[] = []
let admissions: Fate[] = []
/** How many of the former there were. */
let exchanges = 0

// The instance trusts its allowance for a second: that must not depend on when this process is scheduled.
countOwnTime()
const stage = fixture(() => openTills(1))
beforeEach(async () => {
  own = openDatabase(stage.url, { log })
  fates = []
  admissions = []
  till = await createTill({ database: losing(own, fateOf), log })
})
afterEach(async () => {
  await till.drain()
  await own.close()
})

function fateOf(statement: string): Fate {
  if (/^select \* from (exchange|append)/.test(statement)) {
    exchanges++
    return fates.shift() ?? 'answered'
  }
  return (statement.startsWith('select * from till') && admissions.shift()) || 'answered'
}

/** An account in steady use: the till has taken an allowance. */
async function warmed(tokens = 100_000_000): Promise<Payer> {
  const payer = await stage.addAccount({ credit: 1_000_000n * mostOfOne, tokens })
  await warm(payer)
  assert.ok((await standing(payer)).lent > 0n)
  return payer
}

async function warm(payer: Payer, times = 8): Promise<void> {
  for (let round = 0; round < times; round++) {
    const each = ask(payer)
    await till.admit(each)
    await till.settle(each.requestId, each.payer.accountId, used(3))
  }
}

async function standing({ accountId }: Payer) {
  const [row] = await stage.database.rows<{ held: bigint; lent: bigint; tokens: bigint; at: bigint }>(
    `select held, credit_lent + requests_lent + tokens_lent as lent, (token_level + tokens_lent) / 60000000 as tokens,
       (extract(epoch from level_at) * 1000000)::bigint as at
     from account where id = $1`,
    [accountId],
  )
  return row ?? assert.fail()
}

/** Waits for everything queued earlier, and lets the account's buckets refill. */
const passThroughQueue = (payer: Payer) => till.takeRequest(randomUUIDv7(), payer)

/** Reaps every instance except the stage's. */
async function reapOwn(payer: Payer): Promise<void> {
  await reapWhere(stage.database, 'id = (select instance_id from allowance where account_id = $1)', [payer.accountId])
}

test('A19 an admission whose answer is lost is made once', async () => {
  const payer = await stage.addAccount({ credit: 10n * mostOfOne, requests: 1 })
  const each = ask(payer)
  admissions = ['answer lost', 'not sent', 'answer lost']
  const { levels } = await till.admit(each)
  assert.deepEqual([admissions.length, levels.requests.remaining], [0, 0])
  assert.equal((await standing(payer)).held, mostOfOne)
  await till.settle(each.requestId, each.payer.accountId, used(3))
  assert.deepEqual([(await standing(payer)).held, (await stage.ledgerRows(payer)).length], [0n, 1])
})

test('A19 an admission that the caller did not wait for is released', async () => {
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  admissions = ['answer lost', ...Array.from({ length: 100 }, () => 'not sent' as const)]
  assert.equal(await outcome(till.admit(ask(payer))), 'unavailable')
  assert.equal((await standing(payer)).held, mostOfOne)
  admissions = []
  await passThroughQueue(payer)
  assert.deepEqual([(await standing(payer)).held, (await stage.ledgerRows(payer)).length], [0n, 0])
})

test('drain() leaves holds that it cannot release without the database to the reaper', async () => {
  const payer = await stage.addAccount({ credit: 10n * mostOfOne })
  admissions = ['answer lost', ...Array.from({ length: 200 }, () => 'not sent' as const)]
  assert.equal(await outcome(till.admit(ask(payer))), 'unavailable')
  await Promise.race([till.drain(), sleep(60_000, undefined, { ref: false }).then(() => assert.fail('it still runs'))])
  assert.equal((await standing(payer)).held, mostOfOne)
  await reapWhere(stage.database, 'id in (select instance_id from hold)')
  assert.equal((await standing(payer)).held, 0n)
})

test('a request that is released twice at the same time is released once', async () => {
  const payer = await warmed()
  const first = ask(payer)
  await till.admit(first)
  fates = ['not sent']
  const tooDear = { input: 1n, output: 10n ** 15n }
  // As after a failover: the refusal arrives while the first release still has to be sent again.
  assert.equal(await outcome(till.reprice({ ...first, price: tooDear })), 'insufficient_credit')
  await Promise.all([
    till.release(first.requestId, first.payer.accountId),
    till.release(first.requestId, first.payer.accountId),
  ])
  // After a lost connection the instance needs a new grant.
  await pass(1100)
  await warm(payer)
  const second = ask(payer)
  await till.admit(second)
  const [settled, other] = await Promise.allSettled([
    till.settle(second.requestId, second.payer.accountId, used(3)),
    till.settle(second.requestId, second.payer.accountId, used(3)),
  ])
  assert.deepEqual([settled.status, other.status], ['fulfilled', 'rejected'])
  await warm(payer)
  const rows = await stage.ledgerRows(payer)
  assert.equal(rows.length, 25)
  assert.equal((await standing(payer)).held, 0n)
})

test('A19 a request whose answer is lost, and lost again on the retry, ends once', async () => {
  const payer = await warmed()
  for (const ends of [true, false]) {
    const each = ask(payer)
    await till.admit(each)
    fates = ['answer lost', 'not sent', 'answer lost']
    if (ends) await till.settle(each.requestId, each.payer.accountId, used(3))
    else await till.release(each.requestId, each.payer.accountId)
    await passThroughQueue(payer)
    // The next report says what a release returned: it needs no call of its own.
    if (ends) assert.deepEqual(fates, [], 'it was taken from the allowance')
    await pass(1100)
    await until(() => fates.length === 0)
    await warm(payer)
    assert.ok((await standing(payer)).lent > 0n, 'it is granted a new allowance')
  }
  assert.equal((await standing(payer)).held, 0n)
  assert.equal((await stage.ledgerRows(payer)).length, 25)
})

test('a grant whose answer was lost is given back', async () => {
  const payer = await stage.addAccount({ credit: 10_000n * mostOfOne })
  fates = ['answer lost']
  await warm(payer, 4)
  await until(() => fates.length === 0)
  await until(async () => (await standing(payer)).lent === 0n)
})

test('A19 a charged reply is returned even if its instance is reaped right after the charge', async () => {
  const payer = await warmed()
  const each = ask(payer)
  await till.admit(each)
  await sleep(50)
  fates = ['answer lost']
  const settling = till.settle(each.requestId, each.payer.accountId, used(3))
  while ((await stage.ledgerRows(payer)).length < 9) await sleep(1)
  await reapOwn(payer)
  const { cost } = await settling
  assert.equal(cost, mostOfOne - 17n * 400_000n)
  const rows = await stage.ledgerRows(payer)
  assert.equal(rows.filter(({ request_id }) => request_id === each.requestId).length, 1)
})

test('tokens are given back once, even if the answer to the first attempt is lost', async () => {
  const payer = await warmed(10_000_000)
  // Use so much that giving tokens back cannot fill the bucket.
  const most = ask(payer, { maxOutputTokens: 2_000_000 })
  await till.admit(most)
  const large = () => ask(payer, { maxOutputTokens: 490 })
  let taken: HoldRequest[] = []
  for (let round = 0; round < 40; round++) {
    await Promise.all(taken.map((each) => till.release(each.requestId, each.payer.accountId)))
    taken = Array.from({ length: 6 }, large)
    await Promise.all(taken.map((each) => till.admit(each)))
    await sleep(60)
  }
  // Wait until no request has come since the last report, so that the instance keeps little.
  await pass(900)
  await passThroughQueue(payer)
  // The lent amount includes requests in flight.
  const earlier = await standing(payer)
  assert.ok(earlier.lent > 0n)
  fates = ['answer lost']
  await Promise.all(taken.map((each) => till.release(each.requestId, each.payer.accountId)))
  await pass(900)
  await until(() => fates.length === 0)
  await passThroughQueue(payer)
  const later = await standing(payer)
  // By the clock that refills the bucket, in µs: a token every 6. Both levels were rounded.
  const refilled = (later.at - earlier.at) / 6n + 1n
  const given = later.tokens - earlier.tokens
  assert.ok(given <= refilled, `${given} given back, ${refilled} refilled`)
  await till.release(most.requestId, most.payer.accountId)
})

test('drain() ends even if the database refuses its calls', async () => {
  await warmed()
  await stage.database.rows('alter function exchange rename to exchange_gone')
  try {
    const earlier = exchanges
    await Promise.race([
      till.drain(),
      sleep(60_000, undefined, { ref: false }).then(() => assert.fail('it still runs')),
    ])
    // It pauses in between.
    assert.ok(exchanges < earlier + 1000, `${exchanges} calls`)
  } finally {
    await stage.database.rows('alter function exchange_gone rename to exchange')
  }
  await reapWhere(stage.database, 'id in (select instance_id from allowance where requests > 0)')
})

test('an outage is logged once when it begins and once when it ends', async () => {
  const told: string[] = []
  const lines = new Writable({
    write(line: Buffer, _, done) {
      told.push(String(line))
      done()
    },
  })
  let away = false
  const watched = await createTill({
    database: losing(own, () => (away ? 'not sent' : 'answered')),
    log: pino({ base: null }, lines),
  })
  const payer = await stage.addAccount({ credit: mostOfOne })
  away = true
  const asked = watched.takeRequest(randomUUIDv7(), payer)
  await until(() => told.length > 0)
  await sleep(1000)
  away = false
  await asked
  await watched.drain()
  const said = told.map((line) => /the till [a-z ]+/.exec(line)?.[0])
  assert.deepEqual(said, ['the till cannot reach the database', 'the till reaches the database again'])
})
