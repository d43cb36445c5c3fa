import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { byService } from '../access/actor.ts'
import { createKeys, type Keys } from '../accounts/keys/keys.ts'
import { countOwnTime } from '../../tests/support/clock.ts'
import { stepClock } from '../../tests/support/clock-step.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { ask, log, mostOfOne, openTills, price, outcome, reapWhere, used } from '../../tests/support/tills.ts'
import { tamper } from '../../tests/support/tamper.ts'
import { findKeyStanding } from './key-standing.ts'
import { TillRefusal } from './till/limits.ts'
import type { Payer } from './payer.ts'
import { verifyBooks } from './verify.ts'

countOwnTime()
const stage = fixture(() => openTills(3))
const keys = fixture(() => createKeys({ database: stage.database, log }))
const open: { readonly requestId: string; readonly payer: Payer }[] = []
after(async () => {
  for (const { requestId, payer } of open) await stage.nth(0).release(requestId, payer.accountId)
})

type Limits = Parameters<Keys['setLimits']>[1]

/** A payer whose key has these limits, of an account with enough of everything. */
async function limited(limits: Limits): Promise<Payer & { readonly keyId: string; readonly limitId: string }> {
  const { accountId, keyId = assert.fail() } = await stage.addAccount({ credit: 1000n * mostOfOne })
  await keys.setLimits(keyId, limits, byService)
  return { accountId, keyId, limitId: await limitIdOf(keyId) }
}

async function limitIdOf(keyId: string): Promise<string> {
  const [key] = await stage.database.rows<{ id: string }>('select limit_id as id from api_key where id = $1', [keyId])
  return key?.id ?? assert.fail()
}

async function refusalOf(work: Promise<unknown>): Promise<TillRefusal> {
  const error = await work.then(
    () => assert.fail('it was admitted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof TillRefusal, String(error))
  return error
}

const settle = (payer: Payer, request: { readonly requestId: string }, index = 0) =>
  stage.nth(index).settle(request.requestId, payer.accountId, used(20))

test('A16: a budget for k requests admits exactly k of many, on three instances', async () => {
  for (const budget of ['dailyBudget', 'monthlyBudget'] as const) {
    const payer = await limited({ [budget]: 7n * mostOfOne + mostOfOne / 2n })
    const asks = Array.from({ length: 60 }, () => ask(payer))
    const outcomes = await Promise.all(asks.map((each, index) => outcome(stage.nth(index).admit(each))))
    assert.equal(outcomes.filter((each) => each === 'admitted').length, 7)
    assert.equal(outcomes.filter((each) => each === 'insufficient_credit').length, 53)
    const taken = asks.filter((_, index) => outcomes[index] === 'admitted')
    await Promise.all(taken.map((each, index) => settle(payer, each, index + 1)))
    const key = await keys.show(payer.keyId)
    const spent = 7n * mostOfOne
    assert.deepEqual([key.dayCharged, key.monthCharged, key.limitHeld], [spent, spent, 0n])
    const name = budget === 'dailyBudget' ? 'daily' : 'monthly'
    const renewsIn = async () => (await findKeyStanding(stage.database, payer.keyId))?.[name]?.renewsInSeconds ?? 0
    for (const look of ['admit', 'precheck'] as const) {
      const most = await renewsIn()
      const refusal = await refusalOf(stage.nth(0)[look](ask(payer)))
      assert.match(
        refusal.message,
        new RegExp(`^What is left of the ${name} budget of this key .* renewed when the next`),
      )
      const wait = refusal.details.retryAfter ?? 0
      assert.ok(wait <= most && wait >= (await renewsIn()), `${look}: ${wait} of ${most} s`)
    }
  }
})

test('output that may be less is admitted as far as each limit of the key has room for it', async () => {
  const budget = 10n * price.input + 8n * price.output - 1n
  for (const limits of [{ dailyBudget: budget }, { monthlyBudget: budget }, { tokensPerMinute: 17 }]) {
    const payer = await limited(limits)
    const request = ask(payer, { leastOutputTokens: 1 })
    const admission = await stage.nth(0).admit(request)
    assert.equal(admission.kind === 'admitted' && admission.maxOutputTokens, 7, inspect(limits))
    open.push(request)
  }
})

test('a request that a budget can never cover is refused without a time to retry, even by the precheck', async () => {
  const tooLittle = mostOfOne - 1n
  for (const limits of [{ dailyBudget: tooLittle }, { dailyBudget: tooLittle, monthlyBudget: 9n * mostOfOne }]) {
    const payer = await limited(limits)
    for (const look of ['admit', 'precheck'] as const) {
      const refusal = await refusalOf(stage.nth(0)[look](ask(payer)))
      assert.equal(refusal.code, 'insufficient_credit')
      assert.equal(refusal.details.retryAfter, undefined)
      assert.match(refusal.message, /exceeds a budget of this key/)
    }
  }
})

test('a budget that requests in flight hold asks to retry, and is free again after a release', async () => {
  const payer = await limited({ dailyBudget: mostOfOne })
  const first = ask(payer)
  await stage.nth(0).admit(first)
  const refusal = await refusalOf(stage.nth(1).admit(ask(payer)))
  assert.match(refusal.message, /Requests in flight hold the part of this key's budget/)
  assert.equal(refusal.details.retryAfter, 1)
  await stage.nth(0).release(first.requestId, payer.accountId)
  const second = ask(payer)
  await stage.nth(1).admit(second)
  await settle(payer, second, 1)
  assert.equal((await keys.show(payer.keyId)).dayCharged, mostOfOne)
})

test('the precheck and the standing of a key count what requests in flight hold, in each budget', async () => {
  for (const budget of ['dailyBudget', 'monthlyBudget'] as const) {
    const payer = await limited({ [budget]: mostOfOne })
    const first = ask(payer)
    await stage.nth(0).admit(first)
    const refusal = await refusalOf(stage.nth(1).precheck(ask(payer)))
    assert.match(refusal.message, /Requests in flight hold the part of this key's budget/)
    const { daily, monthly, held } = (await findKeyStanding(stage.database, payer.keyId)) ?? assert.fail()
    assert.deepEqual([(daily ?? monthly)?.charged, (daily ?? monthly)?.left, held], [0n, 0n, mostOfOne])
    await stage.nth(0).release(first.requestId, payer.accountId)
  }
})

test('a budget that was used up on another day, or in another month, is whole again', async () => {
  const payer = await limited({ dailyBudget: mostOfOne, monthlyBudget: mostOfOne })
  await stage.database.rows(
    `update key_limit set day = current_date - 40, month = date_trunc('month', current_date - 40),
       day_charged = daily_budget, month_charged = monthly_budget where id = $1`,
    [payer.limitId],
  )
  const { daily, monthly } = (await findKeyStanding(stage.database, payer.keyId)) ?? assert.fail()
  assert.deepEqual([daily?.left, monthly?.left], [mostOfOne, mostOfOne])
  assert.equal(await outcome(stage.nth(1).precheck(ask(payer))), 'admitted')
  await settle(payer, await admitted(payer))
  assert.equal((await keys.show(payer.keyId)).dayCharged, mostOfOne)
})

test('own limits of requests and tokens refuse with the name of the key and a true time to retry', async () => {
  const slow = await limited({ requestsPerMinute: 2 })
  for (const _ of [1, 2]) await settle(slow, await admitted(slow))
  const refusal = await refusalOf(stage.nth(1).admit(ask(slow)))
  assert.equal(refusal.code, 'rate_limit_exceeded')
  assert.match(refusal.message, /^This key has used up its requests per minute/)
  const wait = refusal.details.retryAfter ?? 0
  assert.ok(wait >= 1 && wait <= 30, `${wait} s`)
  assert.deepEqual(refusal.details.limit, { name: 'requests_per_minute', value: 2, remaining: 0 })

  const small = await limited({ tokensPerMinute: 45 })
  await admitted(small)
  const tokens = await refusalOf(stage.nth(1).admit(ask(small)))
  assert.match(tokens.message, /^This key has used up its tokens per minute/)
  assert.equal(tokens.details.limit?.value, 45)
  const never = await refusalOf(stage.nth(1).admit(ask(small, { maxOutputTokens: 40 })))
  assert.equal(never.code, 'can_never_fit_limit')
  assert.match(never.message, /this key may use 45 a minute/)
})

/** Released at the end, unless it is settled. */
async function admitted(payer: Payer) {
  const request = ask(payer)
  await stage.nth(0).admit(request)
  open.push(request)
  return request
}

test('the levels of a key are the tighter ones, in the answer and when read, and not those of other keys', async () => {
  const payer = await limited({ requestsPerMinute: 5 })
  const request = ask(payer)
  const admission = await stage.nth(0).admit(request)
  open.push(request)
  assert.deepEqual([admission.levels.requests.limit, admission.levels.requests.remaining], [5, 4])
  assert.equal(admission.levels.tokens.limit, 100_000_000)
  const read = await stage.nth(1).levels(payer)
  assert.equal(read?.requests.limit, 5)
  const other = await stage.nth(0).levels({ accountId: payer.accountId, keyId: payer.keyId })
  assert.equal(other?.requests.limit, 1_000_000)
})

test('counting tokens takes a request from the limit of the key', async () => {
  const payer = await limited({ requestsPerMinute: 1 })
  await stage.nth(0).takeRequest(ask(payer).requestId, payer)
  assert.equal(await outcome(stage.nth(1).takeRequest(ask(payer).requestId, payer)), 'rate_limit_exceeded')
})

test('tokens beyond the hold are charged only as far as the budget of the key covers them', async () => {
  const payer = await limited({ dailyBudget: mostOfOne + price.input + 1n })
  const request = await admitted(payer)
  const charge = used(20, { inputTokens: 30 })
  const { inputTokens, cost } = await stage.nth(0).settle(request.requestId, payer.accountId, charge)
  assert.deepEqual([inputTokens, cost], [11, mostOfOne + price.input])
  assert.equal((await keys.show(payer.keyId)).dayCharged, mostOfOne + price.input)
})

test('the precheck refuses what the key cannot pay before its tokens are counted', async () => {
  const payer = await limited({ monthlyBudget: mostOfOne })
  await settle(payer, await admitted(payer))
  const refusal = await refusalOf(stage.nth(1).precheck(ask(payer)))
  assert.match(refusal.message, /monthly budget of this key/)
  assert.equal(await outcome(stage.nth(1).precheck(ask(await limited({ tokensPerMinute: 5 })))), 'can_never_fit_limit')
  const fresh = await limited({ requestsPerMinute: 1, tokensPerMinute: 100, dailyBudget: mostOfOne })
  assert.equal(await outcome(stage.nth(1).precheck(ask(fresh))), 'admitted')
  await admitted(fresh)
  assert.equal(await outcome(stage.nth(1).precheck(ask(fresh))), 'insufficient_credit')
})

const withoutTime = ({ message }: TillRefusal): string => message.replace(/\d+ s\b/, '')

test('the precheck refuses as the till does where several limits refuse, with the wait for all of them', async () => {
  const cases = [
    // What no wait ends comes first: the budget of the key before the bucket of its account.
    { account: { requests: 1 }, limits: { monthlyBudget: mostOfOne }, code: 'insufficient_credit' },
    { account: { credit: mostOfOne }, limits: { dailyBudget: mostOfOne }, code: 'insufficient_credit' },
    { account: { requests: 2 }, limits: { requestsPerMinute: 1 }, code: 'rate_limit_exceeded' },
    { account: { requests: 1 }, limits: { requestsPerMinute: 2 }, code: 'rate_limit_exceeded' },
  ] as const
  for (const { account, limits, code } of cases) {
    const { accountId, keyId = assert.fail() } = await stage.addAccount({ credit: 1000n * mostOfOne, ...account })
    await keys.setLimits(keyId, limits, byService)
    const payer = { accountId, keyId, limitId: await limitIdOf(keyId) }
    await settle(payer, await admitted(payer))
    const [looked, asked] = [
      await refusalOf(stage.nth(1).precheck(ask(payer))),
      await refusalOf(stage.nth(2).admit(ask(payer))),
    ]
    assert.deepEqual([looked.code, asked.code, withoutTime(looked)], [code, code, withoutTime(asked)])
    assert.ok(Math.abs((looked.details.retryAfter ?? 0) - (asked.details.retryAfter ?? 0)) <= 1)
  }
})

test('limits that are set while requests are in flight count them, and those that replaced the key share them', async () => {
  const { accountId, keyId = assert.fail() } = await stage.addAccount({ credit: 1000n * mostOfOne })
  const requests = Array.from({ length: 3 }, () =>
    ask({ accountId, keyId }, { idempotency: { key: crypto.randomUUID(), hash: 'a' } }),
  )
  for (const request of requests) await stage.nth(0).admit(request)
  await stage.nth(0).settle(requests[0]?.requestId ?? '', accountId, used(20))
  const key = await keys.setLimits(keyId, { dailyBudget: 4n * mostOfOne }, byService)
  assert.deepEqual([key.dayCharged, key.limitHeld], [mostOfOne, 2n * mostOfOne])
  const { id: next } = await keys.rotate(keyId, { overlapMs: 60_000 }, byService)
  const payer = { accountId, keyId: next, limitId: await limitIdOf(next) }
  await admitted(payer)
  const refusal = await refusalOf(stage.nth(1).admit(ask({ ...payer, keyId })))
  assert.match(refusal.message, /Requests in flight hold the part of this key's budget/)
  for (const { requestId } of requests.slice(1)) await stage.nth(0).settle(requestId, accountId, used(20))
  assert.equal((await keys.show(next)).dayCharged, 3n * mostOfOne)
})

test('limits that are set after a rotation bind the key before and the key after, and all together', async () => {
  for (const which of [0, 1]) {
    const { accountId, keyId: first = assert.fail() } = await stage.addAccount({ credit: 1000n * mostOfOne })
    const { id: second } = await keys.rotate(first, { overlapMs: 60_000 }, byService)
    const both = [first, second]
    await keys.setLimits(both[which] ?? '', { dailyBudget: mostOfOne }, byService)
    const limitId = await limitIdOf(first)
    assert.equal(await limitIdOf(second), limitId)
    await admitted({ accountId, keyId: first, limitId })
    assert.equal(await outcome(stage.nth(1).admit(ask({ accountId, keyId: second, limitId }))), 'insufficient_credit')
  }
})

test('a key without limits again is bound only by its account, and limits set later count what it spent', async () => {
  const payer = await limited({ dailyBudget: mostOfOne })
  const first = await admitted(payer)
  const none = { requestsPerMinute: null, tokensPerMinute: null, dailyBudget: null, monthlyBudget: null }
  const cleared = await keys.setLimits(payer.keyId, none, byService)
  assert.deepEqual([cleared.dailyBudget, cleared.dayCharged], [null, null])
  await settle(payer, first)
  const second = await admitted(payer)
  const key = await keys.setLimits(payer.keyId, { monthlyBudget: 2n * mostOfOne }, byService)
  assert.deepEqual([key.monthCharged, key.limitHeld], [mostOfOne, mostOfOne])
  assert.equal(await outcome(stage.nth(1).admit(ask(payer))), 'insufficient_credit')
  await settle(payer, second)
})

test('an instance that crashes loses what its requests held of a budget, uncharged', async () => {
  const payer = await limited({ dailyBudget: mostOfOne })
  const request = await admitted(payer)
  await reapWhere(stage.database, 'id in (select instance_id from hold where id = $1)', [request.requestId])
  assert.equal((await keys.show(payer.keyId)).limitHeld, 0n)
  await settle(payer, await onInstance(payer, 1), 1)
  assert.equal(await outcome(stage.nth(0).settle(request.requestId, payer.accountId, used(20))), 'unavailable')
})

async function onInstance(payer: Payer, index: number) {
  const request = ask(payer)
  await stage.nth(index).admit(request)
  open.push(request)
  return request
}

test('A31: a bucket of a key refills by the time that passed, and waits for no clock that was set back', async () => {
  const payer = await limited({ requestsPerMinute: 1 })
  await admitted(payer)
  assert.equal(await outcome(stage.nth(1).admit(ask(payer))), 'rate_limit_exceeded')
  await stepClock(stage.database, '-1 hour')
  assert.equal(await outcome(stage.nth(1).admit(ask(payer))), 'rate_limit_exceeded')
  await stepClock(stage.database, '61 seconds')
  await onInstance(payer, 1)
  // The books of the other tests are of the present.
  await stepClock(stage.database, '58 minutes 59 seconds')
})

test('verify names each sum of a key that was changed', async () => {
  const payer = await limited({ dailyBudget: 9n * mostOfOne })
  await settle(payer, await admitted(payer))
  const faultsAfter = async (change: string, undo: string) => {
    await tamper(stage.database, `update key_limit set ${change} where id = '${payer.limitId}'`)
    const { checks } = await verifyBooks(stage.database)
    await tamper(stage.database, `update key_limit set ${undo} where id = '${payer.limitId}'`)
    return checks.filter(({ faults }) => inspect(faults).includes(payer.limitId)).map(({ name }) => name)
  }
  const spent = ['every key with limits spent the sum of its roll-ups']
  assert.deepEqual(await faultsAfter('day_charged = day_charged + 1', 'day_charged = day_charged - 1'), spent)
  assert.deepEqual(await faultsAfter('month_charged = month_charged + 1', 'month_charged = month_charged - 1'), spent)
  const held = ['the amount held by every key with limits is the sum of its holds and allowances']
  assert.deepEqual(await faultsAfter('held = held + 1', 'held = held - 1'), held)
  const lent = ['the amounts lent by every key with limits are the sums of its allowances']
  for (const column of ['credit_lent', 'requests_lent', 'tokens_lent']) {
    assert.deepEqual(await faultsAfter(`${column} = 1`, `${column} = 0`), lent)
  }
  const bucket = ["no key's bucket is above its limit"]
  assert.deepEqual(await faultsAfter('request_level = 1', 'request_level = 0'), bucket)
})
