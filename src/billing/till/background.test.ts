import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { afterEach, describe, test } from 'node:test'
import { fixture } from '../../../tests/support/fixture.ts'
import { ask, mostOfOne, openTills, outcome, used, type Limits } from '../../../tests/support/tills.ts'
import type { Payer } from '../payer.ts'
import { backgroundKey, type HoldRequest } from './till.ts'

const stage = fixture(() => openTills(1))

/** A request in the background. */
const askBehind = (payer: Payer, changes: Parameters<typeof ask>[1] = {}) => {
  const id = randomUUIDv7()
  return ask(payer, { ...changes, idempotency: { key: backgroundKey(id), hash: id } })
}

/** The buckets of the account and of its keys, as they are stored. */
async function buckets({ accountId }: Payer): Promise<object[]> {
  return stage.database.rows(
    `select request_level, token_level, level_at, requests_lent, tokens_lent, recalled_at from account where id = $1
     union all select request_level, token_level, level_at, requests_lent, tokens_lent, recalled_at from key_limit where account_id = $1`,
    [accountId],
  )
}

async function limited(limits: Limits): Promise<Payer> {
  const { accountId, keyId = '' } = await stage.addAccount(limits)
  const limitId = randomUUIDv7()
  await stage.database.rows(
    `with l as (
       insert into key_limit (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, held, day, day_charged, month, month_charged,
         request_level, token_level)
       values ($1, $2, 2, 60, 1000000000, 0, current_date, 0, date_trunc('month', current_date), 0, 120000000, 3600000000) returning id),
     k as (update api_key set limit_id = l.id from l where account_id = $2)
     update account set limits_keys = true where id = $2`,
    [limitId, accountId],
  )
  return { accountId, keyId, limitId }
}

/** Empties the buckets of the account, which do not refill before this is disposed of. */
async function emptyBuckets({ accountId }: Payer): Promise<AsyncDisposable> {
  const set = (levelAt: string) =>
    stage.database.rows(`update account set request_level = 0, token_level = 0, level_at = ${levelAt} where id = $1`, [
      accountId,
    ])
  await set(`now() + interval '1 hour'`)
  return { [Symbol.asyncDispose]: async () => void (await set('now()')) }
}

const till = () => stage.nth(0)

const asked: HoldRequest[] = []
afterEach(async () => {
  for (const { requestId, payer } of asked.splice(0)) await till().release(requestId, payer.accountId)
})
/** The outcome of an admission, which is released after the test. */
function admit(request: HoldRequest): Promise<string> {
  asked.push(request)
  return outcome(till().admit(request))
}

describe('a request in the background', () => {
  test('leaves the buckets of its account and of its key as they are, to the microsecond', async () => {
    const payer = await limited({ credit: 1000n * mostOfOne, requests: 1, tokens: 60 })
    const before = await buckets(payer)
    for (let round = 0; round < 3; round++) {
      const behind = askBehind(payer)
      assert.equal(await admit(behind), 'admitted')
      if (round === 2) await till().release(behind.requestId, payer.accountId)
      else await till().settle(behind.requestId, payer.accountId, used(20))
    }
    assert.deepEqual(await buckets(payer), before)
    // Other requests have all of them.
    assert.equal(await admit(ask(payer)), 'admitted')
    assert.equal((await stage.account(payer)).charged, 2n * mostOfOne)
  })

  test('is admitted where the buckets are empty, but not if it could never fit them', async () => {
    const payer = await stage.addAccount({ credit: 1000n * mostOfOne, requests: 1, tokens: 60 })
    await using _ = await emptyBuckets(payer)
    assert.equal(await admit(ask(payer)), 'rate_limit_exceeded')
    assert.equal(await admit(askBehind(payer)), 'admitted')
    assert.equal(await admit(askBehind(payer, { maxOutputTokens: 51 })), 'can_never_fit_limit')
  })

  test('leaves half of the credit that is free to others', async () => {
    const payer = await stage.addAccount({ credit: 3n * mostOfOne })
    assert.equal(await admit(askBehind(payer)), 'admitted')
    // Two are free: it may have one of them, and then no more of the other.
    assert.equal(await admit(askBehind(payer)), 'admitted')
    assert.equal(await admit(askBehind(payer)), 'insufficient_credit')
    assert.equal(await admit(ask(payer)), 'admitted')
  })

  test('leaves half of the budgets of its key that are free to others', async () => {
    const payer = await limited({ credit: 1000n * mostOfOne, requests: 100, tokens: 6000 })
    await stage.database.rows('update key_limit set daily_budget = $2 where account_id = $1', [
      payer.accountId,
      3n * mostOfOne,
    ])
    const outcomes = []
    for (let each = 0; each < 3; each++) outcomes.push(await admit(askBehind(payer)))
    assert.deepEqual(outcomes, ['admitted', 'admitted', 'insufficient_credit'])
    assert.equal(await admit(ask(payer)), 'admitted')
  })

  test('gets as much output as its minute has room for, if its maximum is open', async () => {
    const payer = await stage.addAccount({ credit: 1000n * mostOfOne, tokens: 60 })
    await using _ = await emptyBuckets(payer)
    const open = askBehind(payer, { maxOutputTokens: 500, leastOutputTokens: 1 })
    asked.push(open)
    const admission = await till().admit(open)
    assert.deepEqual([admission.kind, admission.kind === 'admitted' && admission.maxOutputTokens], ['admitted', 50])
  })

  test('is charged once and replayed, as any request with an idempotency key', async () => {
    const payer = await stage.addAccount({ credit: 1000n * mostOfOne })
    const behind = askBehind(payer)
    await till().admit(behind)
    assert.equal(await outcome(till().admit({ ...behind, requestId: randomUUIDv7() })), 'idempotency_in_progress')
    const storedReply = { headers: {}, body: '{}' }
    await till().settle(behind.requestId, payer.accountId, { ...used(20), storedReply })
    assert.equal((await till().admit({ ...behind, requestId: randomUUIDv7() })).kind, 'replay')
    assert.equal((await stage.ledgerRows(payer)).length, 1)
  })
})

describe('what other requests leave of the limits', () => {
  const minute = 60_000
  const start = Date.UTC(2026, 2, 12, 12)

  /** An account with 6 requests and 600 tokens a minute, whose buckets had these levels at the start. */
  async function account(requests: number, tokens: number): Promise<Payer> {
    const payer = await stage.addAccount({ credit: 1000n * mostOfOne, requests: 6, tokens: 600 })
    await set(payer, { requests, tokens, at: 0 })
    await stage.database.rows('insert into spare values ($1, $2, 0, 0)', [payer.accountId, new Date(start)])
    return payer
  }
  /** As a request of another kind leaves the buckets, ms after the start. */
  const set = (payer: Payer, { requests, tokens, at }: { requests: number; tokens: number; at: number }) =>
    stage.database.rows('update account set request_level = $2, token_level = $3, level_at = $4 where id = $1', [
      payer.accountId,
      requests * 60_000_000,
      tokens * 60_000_000,
      new Date(start + at),
    ])
  /** The ms to wait at this moment, 0 if it took. */
  async function take(payer: Payer, tokens: number, at: number): Promise<number> {
    const [row] = await stage.database.rows<{ wait: bigint }>('select take_spare($1, null, $2, $3) as wait', [
      payer.accountId,
      tokens,
      new Date(start + at),
    ])
    return Number(row?.wait) / 1000
  }

  test('is what full buckets have no room for', async () => {
    const payer = await account(6, 600)
    assert.equal(await take(payer, 10, 5000), 5000)
    assert.equal(await take(payer, 10, 9999), 1)
    assert.equal(await take(payer, 10, 10_000), 0)
    assert.equal(await take(payer, 10, 10_000), 10_000)
    assert.equal(await take(payer, 10, 20_000), 0)
  })

  test('is nothing while the buckets fill', async () => {
    const payer = await account(0, 0)
    assert.ok((await take(payer, 10, minute)) > 0)
    assert.ok((await take(payer, 10, minute + 9999)) > 0)
    assert.equal(await take(payer, 10, minute + 10_000), 0)
  })

  test('does not count what happened before a bucket was last written', async () => {
    const payer = await account(6, 600)
    await set(payer, { requests: 6, tokens: 600, at: 9000 })
    assert.equal(await take(payer, 10, 10_000), 9000)
    assert.equal(await take(payer, 10, 19_000), 0)
  })

  test('is at most that of ten seconds, and a request of more tokens delays the next', async () => {
    const payer = await account(6, 600)
    // 100 tokens are gained in ten seconds.
    assert.equal(await take(payer, 600, 9000), 1000)
    assert.equal(await take(payer, 600, 10 * minute), 0)
    assert.equal(await take(payer, 10, 10 * minute), 51_000)
    assert.equal(await take(payer, 10, 11 * minute), 0)
  })

  test('is never owed more than a minute of, however many tokens a request asks for', async () => {
    const payer = await account(6, 600)
    assert.equal(await take(payer, 1_000_000, 10 * minute), 0)
    assert.equal(await take(payer, 10, 10 * minute), 51_000)
  })

  test('keeps all requests within the limits in the long run, whatever both kinds do', async () => {
    const payer = await account(6, 600)
    let taken = 0
    for (let at = 0; at <= 10 * minute; at += 500) if ((await take(payer, 1, at)) === 0) taken += 1
    assert.equal(taken, 60)
  })

  test('survives a clock that is set back', async () => {
    const payer = await account(6, 600)
    assert.equal(await take(payer, 10, 10_000), 0)
    assert.equal(await take(payer, 10, -minute), 10_000)
    await set(payer, { requests: 6, tokens: 600, at: -minute })
    assert.equal(await take(payer, 10, -minute + 10_000), 0)
  })

  test('returns what was not used', async () => {
    const payer = await account(6, 600)
    assert.equal(await take(payer, 100, 10_000), 0)
    await stage.nth(0).returnSpare(payer, { requests: 1, taken: 100, used: 0 })
    assert.equal(await take(payer, 100, 10_000), 0)
  })

  test('returns no more than it took, of a request that asked for more than a minute has', async () => {
    const payer = await account(6, 600)
    assert.equal(await take(payer, 1600, 20_000), 0)
    await stage.nth(0).returnSpare(payer, { requests: 1, taken: 1600, used: 300 })
    assert.ok((await take(payer, 1, 20_000)) > 0, 'what was used is still missing')
  })

  test('is less of both, for a key with limits of its own', async () => {
    const payer = await limited({ credit: 1000n * mostOfOne, requests: 6, tokens: 600 })
    assert.ok((await stage.nth(0).takeSpare(payer, 1)) > 0)
    await stage.database.rows(`update spare set requests = 60000000, tokens = 6000000000 where id = $1`, [
      payer.accountId,
    ])
    assert.ok((await stage.nth(0).takeSpare(payer, 1)) > 0)
    await stage.database.rows(`update spare set requests = 60000000, tokens = 600000000 where id = $1`, [payer.limitId])
    assert.equal(await stage.nth(0).takeSpare(payer, 1), 0)
  })
})
