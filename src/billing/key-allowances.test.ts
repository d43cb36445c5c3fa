import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { byService } from '../access/actor.ts'
import { createKeys, type Keys } from '../accounts/keys/keys.ts'
import { countOwnTime } from '../../tests/support/clock.ts'
import { detail } from '../../tests/support/detail.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { ask, log, mostOfOne, openTills, outcome, reapWhere, used } from '../../tests/support/tills.ts'
import { until } from '../../tests/support/until.ts'
import { deleteInstance, insertInstance } from './instance/store.ts'
import type { Payer } from './payer.ts'
import type { Till } from './till/till.ts'

// Allowances are valid for a second, which must not depend on the machine's load.
countOwnTime()
const stage = fixture(() => openTills(3))
const keys = fixture(() => createKeys({ database: stage.database, log }))

type Limits = Parameters<Keys['setLimits']>[1]
type Limited = Payer & { readonly keyId: string; readonly limitId: string }

/** A payer whose key has these limits, of an account with enough of everything. */
async function limited(limits: Limits): Promise<Limited> {
  const { accountId, keyId = assert.fail() } = await stage.addAccount({ credit: 1_000_000n * mostOfOne })
  await keys.setLimits(keyId, limits, byService)
  return { accountId, keyId, limitId: await limitOf(keyId) }
}

async function limitOf(keyId: string): Promise<string> {
  const [row] = await stage.database.rows<{ id: string }>('select limit_id as id from api_key where id = $1', [keyId])
  return row?.id ?? assert.fail()
}

/** What instances have of the limits of a key. Undefined without limits. */
async function lent({ limitId }: Limited) {
  const [row] = await stage.database.rows<{ held: bigint; credit: bigint; requests: bigint; tokens: bigint }>(
    'select held, credit_lent as credit, requests_lent as requests, tokens_lent as tokens from key_limit where id = $1',
    [limitId],
  )
  return row
}

const request = async (till: Till, payer: Payer) => {
  const each = ask(payer)
  await till.admit(each)
  await till.settle(each.requestId, payer.accountId, used(3))
}

/** Puts the key in steady use, until the till has an allowance of it and of its account. */
async function warm(payer: Limited, till = stage.nth(0)): Promise<Limited> {
  const lentBefore = (await lent(payer))?.requests ?? 0n
  await until(async () => {
    await request(till, payer)
    return ((await lent(payer))?.requests ?? 0n) > lentBefore
  })
  return payer
}

const isHeld = async (requestId: string) =>
  (await stage.database.rows('select 1 from hold where id = $1', [requestId])).length > 0

test('a key in steady use is admitted from an allowance, and charged exactly', async () => {
  const payer = await warm(await limited({ dailyBudget: 10_000n * mostOfOne, requestsPerMinute: 100_000 }))
  let fromAllowance = 0
  for (let round = 0; round < 20; round++) {
    const each = ask(payer)
    const admission = await stage.nth(0).admit(each)
    assert.ok(admission.kind === 'admitted' && admission.levels.requests.limit === 100_000)
    if (!(await isHeld(each.requestId))) fromAllowance++
    await stage.nth(0).settle(each.requestId, payer.accountId, used(20))
  }
  assert.ok(fromAllowance > 10, `${fromAllowance} of 20 admitted from an allowance`)
  const spent = (await stage.ledgerRows(payer)).reduce((sum, { cost }) => sum + cost, 0n)
  assert.equal((await keys.show(payer.keyId)).dayCharged, spent)
})

test('a request from an allowance that used more than its hold is charged up to the whole budget of its key', async () => {
  const budget = 10_000n * mostOfOne
  const payer = await warm(await limited({ dailyBudget: budget }))
  let taken = ask(payer)
  await until(async () => {
    taken = ask(payer)
    await stage.nth(0).admit(taken)
    if (!(await isHeld(taken.requestId))) return true
    await stage.nth(0).settle(taken.requestId, payer.accountId, used(3))
    return false
  })
  await stage.nth(0).settle(taken.requestId, payer.accountId, used(20, { inputTokens: 2_000_000 }))
  assert.equal((await keys.show(payer.keyId)).dayCharged, budget)
})

test('a charge that waited for its account, after that of a key without limits, counts towards its budget', async () => {
  const payer = await warm(await limited({ dailyBudget: 10_000n * mostOfOne }))
  const plain = await stage.addAccount({ credit: 1_000_000n * mostOfOne })
  await until(async () => {
    const each = ask(plain)
    await stage.nth(0).admit(each)
    const isFromAllowance = !(await isHeld(each.requestId))
    await stage.nth(0).settle(each.requestId, plain.accountId, used(3))
    return isFromAllowance
  })
  const asks = [ask(plain), ask(payer)]
  for (const each of asks) await stage.nth(0).admit(each)
  const other = await stage.database.connect()
  await other.rows('begin')
  await other.rows('update account set charged = charged where id in ($1, $2)', [plain.accountId, payer.accountId])
  const settling = asks.map((each) => stage.nth(0).settle(each.requestId, each.payer.accountId, used(20)))
  await until(async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%exchange_timed%'`
    return (await stage.database.rows(`${waiting} and datname = current_database()`)).length > 0
  })
  await other.rows('commit')
  await other.close()
  await Promise.all(settling)
  const spent = (await stage.ledgerRows(payer)).reduce((sum, { cost }) => sum + cost, 0n)
  assert.equal(await spentBy(payer), spent)
})

test('A16: a budget that allowances are taken of admits exactly k more requests, on three instances', async () => {
  for (const budget of ['dailyBudget', 'monthlyBudget'] as const) {
    const payer = await limited({ [budget]: 10_000n * mostOfOne })
    for (const till of stage.tills) await warm(payer, till)
    const spent = await spentBy(payer)
    // Holds all but what seven requests need. What is lent has to be returned for it.
    const rest = 10_000n * mostOfOne - spent - 7n * mostOfOne - mostOfOne / 2n
    const idempotency = { key: payer.keyId, hash: 'a' }
    const large = ask(payer, { price: { input: 0n, output: rest }, maxOutputTokens: 1, idempotency })
    await stage.nth(0).admit(large)
    const asks = Array.from({ length: 60 }, () => ask(payer))
    const outcomes = await Promise.all(asks.map((each, index) => outcome(stage.nth(index).admit(each))))
    assert.equal(outcomes.filter((each) => each === 'admitted').length, 7)
    await Promise.all(
      asks.map(async (each, index) => {
        if (outcomes[index] === 'admitted') await stage.nth(index).settle(each.requestId, payer.accountId, used(20))
      }),
    )
    assert.equal(await spentBy(payer), spent + 7n * mostOfOne)
    await stage.nth(0).release(large.requestId, payer.accountId)
  }
})

async function spentBy({ keyId }: Limited) {
  const { dayCharged, monthCharged } = await keys.show(keyId)
  assert.equal(dayCharged, monthCharged)
  return dayCharged ?? assert.fail()
}

test('requests and tokens that another instance has are returned before a key is refused', async () => {
  for (const [limit, most] of [
    [{ requestsPerMinute: 40_000 }, 'requests'],
    [{ tokensPerMinute: 1_200_000 }, 'tokens'],
  ] as const) {
    const payer = await warm(await limited(limit))
    assert.ok(((await lent(payer))?.[most] ?? 0n) > 0n)
    // As if others had used up all but what was lent.
    await stage.database.rows('update key_limit set request_level = 0, token_level = 0, level_at = $2 where id = $1', [
      payer.limitId,
      new Date(Date.now() + 3_600_000),
    ])
    const each = ask(payer)
    assert.equal(await outcome(stage.nth(1).admit(each)), 'admitted', most)
    await stage.nth(1).release(each.requestId, payer.accountId)
  }
})

test('what another instance has of a key is waited for, though it has nothing of the account', async () => {
  const payer = await warm(await limited({ requestsPerMinute: 40_000 }))
  await stage.database.transaction(async (tx) => {
    await tx.rows('delete from allowance where account_id = $1', [payer.accountId])
    await tx.rows('update account set credit_lent = 0, requests_lent = 0, tokens_lent = 0 where id = $1', [
      payer.accountId,
    ])
    await tx.rows('update key_limit set request_level = 0, level_at = $2 where id = $1', [
      payer.limitId,
      new Date(Date.now() + 3_600_000),
    ])
  })
  const each = ask(payer)
  assert.equal(await outcome(stage.nth(1).admit(each)), 'admitted')
  await stage.nth(1).release(each.requestId, payer.accountId)
})

test('an instance that has something of a key when it ends is kept, so that another returns it', async () => {
  const payer = await limited({ dailyBudget: 10_000n * mostOfOne })
  const id = randomUUID()
  await insertInstance(stage.database, id, 'other')
  await stage.database.rows('insert into key_allowance values ($1, $2, 0, 5, 1, 10)', [id, payer.limitId])
  await stage.database.rows('update key_limit set credit_lent = 5, requests_lent = 1, tokens_lent = 10 where id = $1', [
    payer.limitId,
  ])
  await deleteInstance(stage.database, id)
  assert.equal((await stage.database.rows('select from instance where id = $1', [id])).length, 1)
  await reapWhere(stage.database, 'id = $1', [id])
  assert.deepEqual(await lent(payer), { held: 0n, credit: 0n, requests: 0n, tokens: 0n })
})

test('an instance that crashes loses its allowance of a key, and its requests in flight are not charged', async () => {
  const payer = await warm(await limited({ dailyBudget: 10_000n * mostOfOne, tokensPerMinute: 10_000_000 }))
  const each = ask(payer)
  await stage.nth(0).admit(each)
  assert.ok(!(await isHeld(each.requestId)))
  const spent = await spentBy(payer)
  await reapWhere(stage.database, 'id in (select instance_id from key_allowance where limit_id = $1)', [payer.limitId])
  assert.deepEqual(await lent(payer), { held: 0n, credit: 0n, requests: 0n, tokens: 0n })
  assert.equal(await outcome(stage.nth(0).settle(each.requestId, payer.accountId, used(20))), 'unavailable')
  assert.equal(await spentBy(payer), spent)
})

test('limits that change keep what is lent in mind; limits that are removed take their allowances along', async () => {
  const payer = await warm(await limited({ dailyBudget: 10_000n * mostOfOne }))
  const { requests = 0n, tokens = 0n } = (await lent(payer)) ?? {}
  await keys.setLimits(payer.keyId, { requestsPerMinute: 100, tokensPerMinute: 10_000 }, byService)
  const [row] = await stage.database.rows<{ requests: bigint; tokens: bigint }>(
    'select request_level / 60000000 as requests, token_level / 60000000 as tokens from key_limit where id = $1',
    [payer.limitId],
  )
  assert.deepEqual(row, { requests: 100n - requests, tokens: 10_000n - tokens })

  const each = ask(payer)
  await stage.nth(0).admit(each)
  const none = { requestsPerMinute: null, tokensPerMinute: null, dailyBudget: null, monthlyBudget: null }
  await keys.setLimits(payer.keyId, none, byService)
  assert.deepEqual(await stage.database.rows('select from key_allowance where limit_id = $1', [payer.limitId]), [])
  await stage.nth(0).settle(each.requestId, payer.accountId, used(20))
  await request(stage.nth(0), { accountId: payer.accountId, keyId: payer.keyId })
  const key = await keys.setLimits(payer.keyId, { dailyBudget: 10_000n * mostOfOne }, byService)
  const spent = (await stage.ledgerRows(payer)).reduce((sum, { cost }) => sum + cost, 0n)
  assert.deepEqual([key.dayCharged, key.limitHeld], [spent, 0n])
})

test('limits that replace removed ones owe nothing to the allowances of those', async () => {
  const earlier = await warm(await limited({ dailyBudget: 10_000n * mostOfOne }))
  const none = { requestsPerMinute: null, tokensPerMinute: null, dailyBudget: null, monthlyBudget: null }
  const spent = await spentBy(earlier)
  await keys.setLimits(earlier.keyId, none, byService)
  await keys.setLimits(earlier.keyId, { dailyBudget: spent + 2n * mostOfOne }, byService)
  const payer = { ...earlier, limitId: await limitOf(earlier.keyId) }
  const asks = Array.from({ length: 10 }, () => ask(payer))
  const outcomes = await Promise.all(asks.map((each) => outcome(stage.nth(0).admit(each))))
  const admitted = asks.filter((_, index) => outcomes[index] === 'admitted')
  assert.equal(admitted.length, 2)
  await Promise.all(admitted.map((each) => stage.nth(0).release(each.requestId, payer.accountId)))
})

detail('an idle key has its allowance returned', async () => {
  const payer = await warm(await limited({ monthlyBudget: 10_000n * mostOfOne, requestsPerMinute: 100_000 }))
  const nothing = { held: 0n, credit: 0n, requests: 0n, tokens: 0n }
  await until(async () => JSON.stringify(await lent(payer), text) === JSON.stringify(nothing, text))
})

const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
