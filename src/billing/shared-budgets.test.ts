import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { inspect, isDeepStrictEqual } from 'node:util'
import { byService } from '../access/actor.ts'
import { createBudgets, type NewBudget } from '../accounts/budgets/budgets.ts'
import { budgetsFor, findKnownBudgets } from '../accounts/budgets/known-budgets.ts'
import { createKeys } from '../accounts/keys/keys.ts'
import { waitingForLocks } from '../../tests/support/waiting-for-locks.ts'
import { foldCharges } from './appended-charges.ts'
import { countOwnTime } from '../../tests/support/clock.ts'
import { fixture } from '../../tests/support/fixture.ts'
import {
  admitReturned,
  ask,
  log,
  mostOfOne,
  openTills,
  outcome,
  price,
  reapWhere,
  used,
} from '../../tests/support/tills.ts'
import { tamper } from '../../tests/support/tamper.ts'
import { until } from '../../tests/support/until.ts'
import { deleteInstance, insertInstance } from './instance/store.ts'
import type { Payer, Tags } from './payer.ts'
import { TillRefusal } from './till/limits.ts'
import type { HoldRequest, Till } from './till/till.ts'
import { verifyBooks } from './verify.ts'

// Allowances are valid for a second, which must not depend on the machine's load.
countOwnTime()
const stage = fixture(() => openTills(3))
const keys = fixture(() => createKeys({ database: stage.database, log }))
const budgets = fixture(() => createBudgets({ database: stage.database, timeZone: 'Europe/Berlin' }))

type KeyPayer = Payer & { readonly keyId: string }

/** An account with enough of everything and this many keys. */
async function accountWith(size: number): Promise<{ readonly accountId: string; readonly keyIds: readonly string[] }> {
  const { accountId, keyId = assert.fail() } = await stage.addAccount({ credit: 1_000_000n * mostOfOne })
  const others = Array.from({ length: size - 1 }, async () => {
    const request = { accountId, name: 'k', allowedModels: null, expiresAt: null }
    return (await keys.create(request, byService)).id
  })
  return { accountId, keyIds: [keyId, ...(await Promise.all(others))] }
}

const addBudget = (accountId: string, rest: Partial<NewBudget>) =>
  budgets.create(
    { accountId, name: randomUUIDv7(), period: 'total', hard: true, amount: mostOfOne, ...rest },
    byService,
  )

/** Who pays for a request with this key and these tags, as an instance knows it. */
async function payerOf(accountId: string, keyId: string, tags?: Tags): Promise<KeyPayer> {
  const known = (await findKnownBudgets(stage.database, [{ id: keyId, accountId }])).get(accountId)
  return { accountId, keyId, ...(known && budgetsFor(known, keyId, tags)) }
}

/** A budget of some keys, or of a tag, and payers who share it. */
async function shared(rest: Partial<NewBudget>, by: 'keys' | 'tag' = 'keys', size = 3) {
  const { accountId, keyIds } = await accountWith(size)
  const tag = { name: 'project', value: 'Apollo' }
  const budget = await addBudget(accountId, { ...(by === 'keys' ? { keys: keyIds } : { tag }), ...rest })
  const tags = by === 'keys' ? undefined : { project: 'Apollo', other: 'x' }
  const payers = await Promise.all(keyIds.map((id) => payerOf(accountId, id, tags)))
  const nth = (index: number): KeyPayer => payers[index % payers.length] ?? assert.fail()
  const settle = (request: { readonly requestId: string }, till: Till, output = 20) =>
    till.settle(request.requestId, accountId, used(output, { tags }))
  return { accountId, budget, which: { accountId, id: budget.id }, tags, nth, settle }
}
type Shared = Awaited<ReturnType<typeof shared>>

const shown = ({ accountId, budget }: Pick<Shared, 'accountId' | 'budget'>) => budgets.find(accountId, budget.id)

async function refusalOf(work: Promise<unknown>): Promise<TillRefusal> {
  const error = await work.then(
    () => assert.fail('it was admitted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof TillRefusal, String(error))
  return error
}

async function admitted(payer: Payer, till = stage.nth(0)) {
  const request = ask(payer)
  await till.admit(request)
  return request
}

/** The dates in the time zones of the budgets. */
const today = () =>
  stage.database.rows(`select date_trunc('day', clock_timestamp() at time zone zone) as day
    from unnest('{UTC,Europe/Berlin}'::text[]) zone`)

/** A test that runs again if a day began meanwhile, with which a budget may be renewed. */
function duringOneDay(name: string, work: () => Promise<void>): void {
  void test(name, async () => {
    const began = await today()
    try {
      await work()
    } catch (error) {
      if (isDeepStrictEqual(await today(), began)) throw error
      await work()
    }
  })
}

test('A16: a budget for k requests admits exactly k of 200 at once, of many keys on three instances', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ amount: 7n * mostOfOne + mostOfOne / 2n }, by, 20)
    const asks = Array.from({ length: 200 }, (_, index) => ask(team.nth(index)))
    const outcomes = await Promise.all(asks.map((each, index) => outcome(stage.nth(index).admit(each))))
    assert.equal(outcomes.filter((each) => each === 'admitted').length, 7, by)
    assert.equal(outcomes.filter((each) => each === 'insufficient_credit').length, 193)
    const settling = asks.filter((_, index) => outcomes[index] === 'admitted')
    assert.equal((await shown(team)).held, 7n * mostOfOne)
    await Promise.all(settling.map((each, index) => team.settle(each, stage.nth(index + 1))))
    const { charged, held, limit } = await shown(team)
    assert.deepEqual([charged, held, limit], [7n * mostOfOne, 0n, team.budget.amount])
  }
})

test('A16: a budget that allowances are taken of admits exactly k more requests, on three instances', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ amount: 10_000n * mostOfOne }, by, 20)
    for (const till of stage.tills) await warm(team, till)
    const { charged } = await shown(team)
    // Holds all but what seven requests need. What is lent has to be returned for it.
    const rest = 10_000n * mostOfOne - charged - 7n * mostOfOne - mostOfOne / 2n
    const idempotency = { key: randomUUIDv7(), hash: 'a' }
    const large = ask(team.nth(0), { price: { input: 0n, output: rest }, maxOutputTokens: 1, idempotency })
    await admitReturned(stage.nth(0), large)
    const asks = Array.from({ length: 200 }, (_, index) => ask(team.nth(index)))
    const placed = new Set<number>()
    const askAll = () =>
      Promise.all(
        asks.map(async (each, index) => {
          if (!placed.has(index) && (await outcome(stage.nth(index).admit(each))) === 'admitted') placed.add(index)
        }),
      )
    // A busy instance may return its part later than they wait for it.
    await until(async () => {
      await askAll()
      return placed.size >= 7
    })
    await askAll()
    assert.equal(placed.size, 7, by)
    await Promise.all(
      asks.map(async (each, index) => {
        if (placed.has(index)) await team.settle(each, stage.nth(index))
      }),
    )
    assert.equal((await shown(team)).charged, charged + 7n * mostOfOne)
    await stage.nth(0).release(large.requestId, team.accountId)
  }
})

/** What instances have of a budget. */
async function lent({ id }: { readonly id: string }): Promise<bigint> {
  const [row] = await stage.database.rows<{ credit: bigint }>(
    'select credit_lent as credit from budget where id = $1',
    [id],
  )
  return row?.credit ?? assert.fail()
}

const isHeld = async (requestId: string) =>
  (await stage.database.rows('select 1 from hold where id = $1', [requestId])).length > 0

/** Uses the budget with all its payers in turn, until the till admits a request from its allowances. */
async function taken(team: Shared, till = stage.nth(0)): Promise<HoldRequest> {
  for (let index = 0; index < 2000; index++) {
    const each = await admitted(team.nth(index), till)
    if (!(await isHeld(each.requestId))) return each
    await team.settle(each, till, 3)
  }
  return assert.fail('it never gets an allowance')
}

async function warm(team: Shared, till = stage.nth(0)): Promise<void> {
  await team.settle(await taken(team, till), till, 3)
}

test('requests of a budget in steady use are admitted from an allowance, and charged exactly', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ amount: 10_000n * mostOfOne }, by)
    for (let round = 0; round < 5; round++) await team.settle(await taken(team), stage.nth(0))
    const spent = (await stage.ledgerRows(team.nth(0))).reduce((sum, { cost }) => sum + cost, 0n)
    assert.equal((await shown(team)).charged, spent)
  }
})

test('a request from an allowance that used more than its hold is charged up to the whole budget', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ amount: 10_000n * mostOfOne }, by)
    const each = await taken(team)
    await stage.nth(0).settle(each.requestId, team.accountId, used(20, { inputTokens: 2_000_000, tags: team.tags }))
    assert.equal((await shown(team)).charged, 10_000n * mostOfOne)
  }
})

test('tokens beyond a hold are charged only as far as the budget covers them', async () => {
  const team = await shared({ amount: mostOfOne + price.input + 1n })
  const request = await admitted(team.nth(0))
  const charge = used(20, { inputTokens: 30 })
  const { inputTokens, cost } = await stage.nth(0).settle(request.requestId, team.accountId, charge)
  assert.deepEqual([inputTokens, cost], [11, mostOfOne + price.input])
})

test('output that may be less is admitted as far as the budget has room for it', async () => {
  const team = await shared({ amount: 10n * price.input + 8n * price.output - 1n })
  const request = ask(team.nth(0), { leastOutputTokens: 1 })
  const admission = await stage.nth(0).admit(request)
  assert.equal(admission.kind === 'admitted' && admission.maxOutputTokens, 7)
  await stage.nth(0).release(request.requestId, team.accountId)
})

test('keys and tags outside a budget are not refused, and what they spend is not counted', async () => {
  const { accountId, keyIds } = await accountWith(2)
  const [inside = '', outside = ''] = keyIds
  const ofKey = await addBudget(accountId, { keys: [inside], amount: 0n })
  const ofTag = await addBudget(accountId, { tag: { name: 'project', value: 'Apollo' }, amount: 0n })
  for (const tags of [undefined, { project: 'apollo' }, { project: 'Zeus' }, { other: 'Apollo' }]) {
    const request = await admitted(await payerOf(accountId, outside, tags))
    await stage.nth(1).settle(request.requestId, accountId, used(20, { tags }))
  }
  for (const budget of [ofKey, ofTag]) assert.equal((await budgets.find(accountId, budget.id)).charged, 0n)
  assert.equal(await outcome(stage.nth(0).admit(ask(await payerOf(accountId, inside)))), 'insufficient_credit')
  const tagged = ask(await payerOf(accountId, outside, { project: 'Apollo' }))
  assert.equal(await outcome(stage.nth(0).admit(tagged)), 'insufficient_credit')
})

test('a request counts in each of its budgets, and the tightest one refuses, by its name', async () => {
  const { accountId, keyIds } = await accountWith(1)
  const [key = ''] = keyIds
  const tags = { project: 'Apollo' }
  const wide = await addBudget(accountId, { name: 'Team', keys: keyIds, amount: 5n * mostOfOne })
  const narrow = await addBudget(accountId, {
    name: 'Apollo',
    tag: { name: 'project', value: 'Apollo' },
    period: 'total',
  })
  const payer = await payerOf(accountId, key, tags)
  const request = await admitted(payer)
  for (const look of ['admit', 'precheck'] as const) {
    const held = await refusalOf(stage.nth(1)[look](ask(payer)))
    assert.equal(
      held.message,
      'Requests in flight hold the part of the budget "Apollo" that this request needs. Retry when they finish.',
    )
    assert.deepEqual([held.code, held.details.retryAfter], ['insufficient_credit', 1])
  }
  await stage.nth(0).settle(request.requestId, accountId, used(20, { tags }))
  for (const { id } of [wide, narrow]) assert.equal((await budgets.find(accountId, id)).charged, mostOfOne)
  for (const look of ['admit', 'precheck'] as const) {
    const spent = await refusalOf(stage.nth(1)[look](ask(payer)))
    assert.match(spent.message, /^What is left of the budget "Apollo" .* Lower max_output_tokens, or ask for a higher/)
    assert.equal(spent.details.retryAfter, undefined, 'a total is never renewed')
  }
})

duringOneDay('a budget that is used up tells when it is renewed, and one that is too small does not', async () => {
  for (const period of ['day', 'week', 'month'] as const) {
    const team = await shared({ period, amount: mostOfOne })
    await team.settle(await admitted(team.nth(0)), stage.nth(0))
    const { renewsAt } = await shown(team)
    for (const look of ['admit', 'precheck'] as const) {
      const refusal = await refusalOf(stage.nth(0)[look](ask(team.nth(1))))
      const wait = refusal.details.retryAfter ?? assert.fail()
      const [clock] = await stage.database.rows<{ now: Date }>('select clock_timestamp() as now')
      const left = ((renewsAt?.getTime() ?? 0) - (clock?.now.getTime() ?? 0)) / 1000
      assert.ok(wait >= left && wait < left + 60, `${period}: ${wait} of ${left} s`)
      assert.match(refusal.message, /It is renewed in \d+ s\.$/)
    }
    const never = await refusalOf(stage.nth(0).admit(ask(team.nth(1), { maxOutputTokens: 30 })))
    assert.equal(never.details.retryAfter, undefined)
  }
})

test('a soft budget refuses nothing, counts every charge, and needs no allowance', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ hard: false, amount: 0n }, by)
    for (let round = 0; round < 40; round++) {
      const each = await admitted(team.nth(round))
      await team.settle(each, stage.nth(0))
    }
    const { charged, held } = await shown(team)
    assert.deepEqual([charged, held], [40n * mostOfOne, 0n])
    assert.equal(await lent(team.budget), 0n, 'no instance sets anything of it aside')
  }
})

duringOneDay(
  'a new budget counts what was spent in its period and what is in flight, and so does one that keys join',
  async () => {
    const { accountId, keyIds } = await accountWith(2)
    const [one = '', other = ''] = keyIds
    const settled = await admitted({ accountId, keyId: one })
    await stage.nth(0).settle(settled.requestId, accountId, used(20))
    const idempotency = { key: randomUUIDv7(), hash: 'a' }
    const flying = ask({ accountId, keyId: other }, { idempotency })
    await stage.nth(0).admit(flying)
    const seen = async (id: string) => {
      const { charged, held } = await budgets.find(accountId, id)
      return [charged / mostOfOne, held / mostOfOne]
    }
    for (const period of ['day', 'month', 'total'] as const) {
      for (const timeZone of ['UTC', 'Europe/Berlin']) {
        const { id } = await addBudget(accountId, { keys: keyIds, period, timeZone, amount: 9n * mostOfOne })
        assert.deepEqual(await seen(id), [1n, 1n], `${period} ${timeZone}`)
      }
    }
    const { id } = await addBudget(accountId, { keys: [one], amount: 9n * mostOfOne })
    const which = { accountId, id }
    assert.deepEqual(await seen(id), [1n, 0n])
    await budgets.change(which, { keys: [other] }, byService)
    assert.deepEqual(await seen(id), [0n, 1n])
    await budgets.change(which, { keys: keyIds }, byService)
    assert.deepEqual(await seen(id), [1n, 1n])
    await stage.nth(0).settle(flying.requestId, accountId, used(20))
    assert.deepEqual(await seen(id), [2n, 0n])
  },
)

test('an instance reads the budgets of tags and of the keys in use, and no other keys', async () => {
  const { accountId, keyIds } = await accountWith(3)
  const [one = '', other = '', third = ''] = keyIds
  const both = await addBudget(accountId, { keys: [one, other] })
  await addBudget(accountId, { keys: [other, third] })
  const ofTag = await addBudget(accountId, { tag: { name: 'project', value: 'Apollo' } })
  const known = await findKnownBudgets(stage.database, [{ id: one, accountId }])
  const { byKey, byTag } = known.get(accountId) ?? assert.fail()
  assert.deepEqual(
    [...byKey].map(([key, [budget]]) => [key, budget?.id]),
    [[one, both.id]],
  )
  assert.equal(byTag.get('project')?.get('Apollo')?.[0]?.id, ofTag.id)
})

test('the audit log has all keys of a budget, however many', async () => {
  const { accountId, keyIds } = await accountWith(20)
  const { id } = await addBudget(accountId, { keys: keyIds })
  await budgets.change({ accountId, id }, { keys: keyIds.slice(1) }, byService)
  const events = await stage.database.rows<{ keys: string }>(
    `select details ->> 'keys' as keys from audit where noun_id = $1 and action ~ '^account_budget' order by id`,
    [accountId],
  )
  const sorted = keyIds.toSorted()
  const rest = keyIds.slice(1).toSorted()
  assert.deepEqual(
    events.map(({ keys: text }) => text),
    [sorted.join(' '), `${sorted.join(' ')} → ${rest.join(' ')}`],
  )
})

test('a key that replaces another one joins its budgets', async () => {
  const team = await shared({ amount: mostOfOne }, 'keys', 1)
  const { id: next } = await keys.rotate(team.nth(0).keyId, { overlapMs: 60_000 }, byService)
  const request = await admitted(await payerOf(team.accountId, next))
  assert.equal(await outcome(stage.nth(1).admit(ask(team.nth(0)))), 'insufficient_credit')
  await team.settle(request, stage.nth(0))
  assert.equal((await shown(team)).charged, mostOfOne)
})

/** Makes the current period of a budget one that ended long ago. */
const makeOld = ({ id }: { readonly id: string }, charged: bigint) =>
  stage.database.rows(
    `update budget set began_at = began_at - interval '90 days', ends_at = began_at - interval '60 days', charged = $2 where id = $1`,
    [id, charged],
  )

duringOneDay(
  'a budget begins anew in the next period, by a till call, a report of an allowance or a charge',
  async () => {
    const cold = await shared({ period: 'month', amount: mostOfOne })
    await makeOld(cold.budget, mostOfOne)
    assert.equal((await shown(cold)).charged, 0n)
    assert.equal(await outcome(stage.nth(1).precheck(ask(cold.nth(0)))), 'admitted')
    await cold.settle(await admitted(cold.nth(0)), stage.nth(0))
    assert.equal((await shown(cold)).charged, mostOfOne)

    for (const hard of [true, false]) {
      const team = await shared({ period: 'month', hard, amount: 10_000n * mostOfOne })
      if (hard) await warm(team)
      const spent = (await shown(team)).charged
      await makeOld(team.budget, 9n)
      let more = 0n
      await until(async () => {
        const each = await admitted(team.nth(0))
        await team.settle(each, stage.nth(0))
        more += mostOfOne
        const { charged } = await shown(team)
        return charged > 0n && charged === spent + more
      })
    }
  },
)

test('the sum of a new period is read only if something was charged in it', async () => {
  const { budget, accountId, nth, settle } = await shared({ period: 'month', timeZone: 'UTC' })
  await settle(await admitted(nth(0)), stage.nth(0))
  const isDone = new Error('nothing of this stays')
  const work = stage.database.transaction(async (tx) => {
    // What nobody charged.
    await tx.rows(
      `insert into usage_day (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost)
       select (ends_at at time zone 'UTC')::date, $1, $2, 'm', 1, 0, 0, 5 from budget where id = $3`,
      [accountId, nth(0).keyId, budget.id],
    )
    const next = async () => {
      const [row] = await tx.rows<{ sum: bigint }>(
        'select (current_budget(b, ends_at)).charged as sum from budget b where id = $1',
        [budget.id],
      )
      return row?.sum
    }
    assert.equal(await next(), 0n)
    await tx.rows('update budget set last_charged_at = ends_at where id = $1', [budget.id])
    assert.equal(await next(), 5n)
    throw isDone
  })
  await assert.rejects(work, isDone)
})

test('what a tag has cost for years is read before the account is locked', async () => {
  const { accountId, keyIds } = await accountWith(1)
  const payer = { accountId, keyId: keyIds[0] ?? '' }
  await foldCharges(stage.database)
  const locked = Promise.withResolvers<void>()
  const blocking = stage.database.transaction(async (tx) => {
    await tx.rows('lock table tag_day in access exclusive mode')
    await locked.promise
  })
  try {
    const creating = addBudget(accountId, { tag: { name: 'project', value: 'Apollo' } })
    await until(async () => (await waitingForLocks(stage.database)) > 0)
    const request = ask(payer, { idempotency: { key: randomUUIDv7(), hash: 'a' } })
    assert.equal(await outcome(stage.nth(2).admit(request)), 'admitted')
    locked.resolve()
    await creating
    await stage.nth(2).release(request.requestId, accountId)
  } finally {
    locked.resolve()
    await blocking
  }
})

test('a change that leaves the keys as they are does not compute its sum', async () => {
  const team = await shared({})
  const set = (to: string) => stage.database.rows(`update budget set ${to} where id = $1`, [team.budget.id])
  await set('charged = 7')
  const { keys: own } = team.budget
  await budgets.change(team.which, { name: randomUUIDv7(), amount: 9n * mostOfOne, keys: own?.toReversed() }, byService)
  assert.equal((await shown(team)).charged, 7n)
  await budgets.change(team.which, { keys: own?.slice(1) }, byService)
  assert.equal((await shown(team)).charged, 0n)
})

duringOneDay('a raise counts until its time', async () => {
  const team = await shared({ period: 'month', amount: mostOfOne })
  const two = await budgets.raise(team.which, { by: mostOfOne }, byService)
  assert.deepEqual([two.limit, two.amount, two.raise?.until], [2n * mostOfOne, mostOfOne, two.renewsAt])
  for (let index = 0; index < 2; index++) await team.settle(await admitted(team.nth(index)), stage.nth(index))
  assert.equal(await outcome(stage.nth(0).admit(ask(team.nth(0)))), 'insufficient_credit')
  await budgets.raise(team.which, { by: 2n * mostOfOne, until: new Date(Date.now() + 3_600_000) }, byService)
  assert.equal(await outcome(stage.nth(2).precheck(ask(team.nth(2)))), 'admitted')
  await team.settle(await admitted(team.nth(2)), stage.nth(2))
  await tamper(stage.database, `update budget set raised_until = now() where id = '${team.budget.id}'`)
  const after = await shown(team)
  assert.deepEqual([after.limit, after.raise], [mostOfOne, null])
  for (const look of ['admit', 'precheck'] as const) {
    assert.equal(await outcome(stage.nth(0)[look](ask(team.nth(0)))), 'insufficient_credit')
  }
})

test('credit that another instance has of a budget is returned before a request is refused', async () => {
  const team = await shared({ amount: 10_000n * mostOfOne })
  await warm(team)
  const part = await lent(team.budget)
  assert.ok(part > 0n)
  await budgets.change(team.which, { amount: (await shown(team)).charged + part }, byService)
  const each = ask(team.nth(0))
  await admitReturned(stage.nth(1), each)
  await stage.nth(1).release(each.requestId, team.accountId)
})

test('removing a budget also removes its allowances, and it no longer refuses anything', async () => {
  const team = await shared({ amount: 10_000n * mostOfOne })
  const flying = await taken(team)
  await budgets.remove(team.which, byService)
  await team.settle(flying, stage.nth(0))
  const payer = await payerOf(team.accountId, team.nth(0).keyId)
  assert.equal(payer.budgets, undefined, 'the account has no budgets')
  await stage.nth(0).release((await admitted(payer)).requestId, team.accountId)
  const [account] = await stage.database.rows('select has_budgets from account where id = $1', [team.accountId])
  assert.deepEqual(account, { has_budgets: false })
})

test('the id of a budget that was removed makes no other one', async () => {
  const { accountId, keyIds } = await accountWith(1)
  const id = randomUUIDv7()
  await addBudget(accountId, { id, keys: keyIds })
  assert.equal((await addBudget(accountId, { id, keys: keyIds })).id, id)
  await budgets.remove({ accountId, id }, byService)
  assert.equal(await outcome(addBudget(accountId, { id, keys: keyIds })), 'conflict')
  assert.deepEqual(await budgets.list(accountId), [])
})

test('an instance that crashes loses what it has and holds of a budget, uncharged', async () => {
  for (const by of ['keys', 'tag'] as const) {
    const team = await shared({ amount: 10_000n * mostOfOne }, by)
    const fromAllowance = await taken(team)
    const idempotency = { key: randomUUIDv7(), hash: 'a' }
    const held = ask(team.nth(2), { idempotency })
    await stage.nth(0).admit(held)
    const { charged } = await shown(team)
    await reapWhere(stage.database, 'id in (select instance_id from budget_allowance where budget_id = $1)', [
      team.budget.id,
    ])
    for (const each of [fromAllowance, held]) {
      assert.equal(await outcome(team.settle(each, stage.nth(0))), 'unavailable')
    }
    const after = await shown(team)
    assert.deepEqual([after.charged, after.held, await lent(team.budget)], [charged, 0n, 0n])
  }
})

test('an instance that has something of a budget when it ends is kept, so that another returns it', async () => {
  const { budget } = await shared({})
  const id = randomUUIDv7()
  await insertInstance(stage.database, id, 'other')
  await stage.database.rows('insert into budget_allowance values ($1, $2, 0, 5)', [id, budget.id])
  await stage.database.rows('update budget set credit_lent = 5 where id = $1', [budget.id])
  await deleteInstance(stage.database, id)
  assert.equal((await stage.database.rows('select from instance where id = $1', [id])).length, 1)
  await reapWhere(stage.database, 'id = $1', [id])
  assert.equal(await lent(budget), 0n)
})

test('days, weeks and months begin at midnight of the time zone, whatever its clock does', async () => {
  const cases: readonly (readonly [period: string, zone: string, now: string, began: string, ends: string])[] = [
    ['day', 'UTC', '2026-03-29T00:00:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
    // A day of 23 hours and one of 25.
    ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['day', 'Europe/Berlin', '2026-03-28T22:59:59Z', '2026-03-27T23:00:00Z', '2026-03-28T23:00:00Z'],
    // Midnight does not exist on the day on which summer time begins.
    ['day', 'America/Havana', '2026-03-08T12:00:00Z', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
    ['day', 'Asia/Kathmandu', '2026-05-01T00:00:00Z', '2026-04-30T18:15:00Z', '2026-05-01T18:15:00Z'],
    ['week', 'UTC', '2026-11-29T23:59:59Z', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
    ['week', 'Europe/Berlin', '2026-11-29T23:00:00Z', '2026-11-29T23:00:00Z', '2026-12-06T23:00:00Z'],
    ['month', 'UTC', '2027-01-31T12:00:00Z', '2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z'],
    ['month', 'Europe/Berlin', '2026-12-31T23:00:00Z', '2026-12-31T23:00:00Z', '2027-01-31T23:00:00Z'],
  ]
  for (const [period, zone, now, began, ends] of cases) {
    const rows = await stage.database.rows('select began_at, ends_at from budget_period($1, $2, $3)', [
      period,
      zone,
      now,
    ])
    assert.deepEqual(rows, [{ began_at: new Date(began), ends_at: new Date(ends) }], `${period} ${zone} ${now}`)
  }
  assert.deepEqual(await stage.database.rows(`select * from budget_period('total', 'UTC', now())`), [
    { began_at: -Infinity, ends_at: Infinity },
  ])
})

test('what was spent is counted from the moment at which a period begins, and appended charges once they are folded', async () => {
  const { accountId, keyIds } = await accountWith(1)
  const tag = { name: 'project', value: 'Apollo' }
  const ids = [(await addBudget(accountId, { keys: keyIds })).id, (await addBudget(accountId, { tag })).id]
  const instance = randomUUIDv7()
  const isDone = new Error('nothing of this stays')
  const work = stage.database.transaction(async (tx) => {
    await insertInstance(tx, instance, 'other')
    await tx.rows(`select ledger_partitions('2026-05-01', '2026-05-01')`)
    const write = async (call: string, at: string, cost: number) => {
      const charges = `array[row(gen_random_uuid(), $1::uuid, $2::uuid, null, 'm', null, $3::integer, 0, 1, 2, $3::integer, 'complete', 'model', 0, 0, 1, 0, 0,
        null, null, '{"project": "Apollo"}')::timed_charge]`
      await tx.rows(`select ${call.replace('{charges}', charges)}`, [accountId, keyIds[0], cost, at])
    }
    const assertSums = async (expected: Readonly<Record<string, bigint>>) => {
      const rows = await tx.rows<{ sums: bigint[] }>(
        `select array_agg(budget_charged(b, m)::bigint order by place) as sums from budget b, unnest($2::timestamptz[]) with ordinality t (m, place)
         where b.id = any($1) group by b.id`,
        [ids, Object.keys(expected)],
      )
      for (const { sums } of rows) assert.deepEqual(sums.map(BigInt), Object.values(expected))
      assert.equal(rows.length, ids.length)
    }
    for (const [at, cost] of [
      ['2026-05-01T12:00:00Z', 1],
      ['2026-05-02T05:59:59.999999Z', 10],
      ['2026-05-02T06:00:00Z', 100],
      ['2026-05-03T00:00:00Z', 1000],
    ] as const) {
      await write('record_charges($4, {charges})', at, cost)
    }
    const appended = '2026-05-02T07:00:00Z'
    await write(`append_charges('${instance}', 1, {charges}, $4)`, appended, 10_000)
    await assertSums({
      '-infinity': 1111n,
      '2026-05-01T12:15:00Z': 1110n,
      '2026-05-02T05:45:00Z': 1110n,
      '2026-05-02T06:00:00Z': 1100n,
      '2026-05-02T06:15:00Z': 1000n,
      '2026-05-03T00:00:00Z': 1000n,
      '2026-05-03T00:15:00Z': 0n,
    })
    await tx.rows('select fold_charges(array[$1::uuid])', [instance])
    await assertSums({
      '-infinity': 11_111n,
      '2026-05-02T06:00:00Z': 11_100n,
      '2026-05-02T07:15:00Z': 1000n,
      '2026-05-03T00:00:00Z': 1000n,
    })
    throw isDone
  })
  await assert.rejects(work, isDone)
})

test('a folded charge counts in the period in which it was made, and begins the next one', async () => {
  const { accountId, keyIds } = await accountWith(1)
  const [key = ''] = keyIds
  const { id } = await addBudget(accountId, { keys: keyIds, period: 'day', timeZone: 'Europe/Berlin', hard: false })
  // Of the day in Berlin that begins on 1 May at 22:00 UTC.
  const begin = (charged: bigint) =>
    stage.database.rows(
      `update budget set began_at = '2026-05-01T22:00:00Z', ends_at = '2026-05-02T22:00:00Z', charged = $2 where id = $1`,
      [id, charged],
    )
  const fold = (...charges: readonly (readonly [quarter: string, cost: number])[]) =>
    stage.database.rows(
      `select charge_budgets(array(select row(null, null, null, $1::uuid, $2::uuid, null, 'm', null, null, 1, 1, 1, 0, 0, c.cost, c.quarter)::charge_sum
         from unnest($3::timestamptz[], $4::integer[]) c (quarter, cost)))`,
      [accountId, key, charges.map(([quarter]) => quarter), charges.map(([, cost]) => cost)],
    )
  const row = async () => {
    const [budget] = await stage.database.rows<{ began_at: Date; charged: bigint }>(
      'select began_at, charged from budget where id = $1',
      [id],
    )
    return [budget?.began_at.toISOString(), budget?.charged]
  }
  const [first, second] = ['2026-05-01T22:00:00.000Z', '2026-05-02T22:00:00.000Z']
  await begin(100n)
  await fold(['2026-05-01T21:45:00Z', 1])
  assert.deepEqual(await row(), [first, 100n], 'a charge of the day before')
  await fold(['2026-05-01T22:00:00Z', 2], ['2026-05-01T21:45:00Z', 1], ['2026-05-02T21:45:00Z', 3])
  assert.deepEqual(await row(), [first, 105n])
  await fold(['2026-05-02T21:45:00Z', 4], ['2026-05-02T22:00:00Z', 5])
  assert.deepEqual(await row(), [second, 5n], 'the next day has begun')
  await fold(['2026-05-02T21:45:00Z', 6])
  assert.deepEqual(await row(), [second, 5n])
  await stage.database.rows('delete from budget where id = $1', [id])
  await stage.database.rows('update account set has_budgets = false where id = $1', [accountId])
})

test('verify names each sum of a budget that was changed', async () => {
  const team = await shared({ amount: 9n * mostOfOne })
  await team.settle(await admitted(team.nth(0)), stage.nth(0))
  const { id } = team.budget
  const faultsAfter = async (change: string, undo: string) => {
    await tamper(stage.database, change)
    const { checks } = await verifyBooks(stage.database)
    await tamper(stage.database, undo)
    return checks.filter(({ faults }) => inspect(faults).includes(id)).map(({ name }) => name)
  }
  const set = (to: string) => `update budget set ${to} where id = '${id}'`
  const spent = 'every budget was charged the sum of its charges in its period'
  const held = 'the amount held by every budget is the sum of its holds and allowances'
  const credit = 'the amount lent by every budget is the sum of its allowances'
  const marked = 'every account with budgets is marked, and their keys are keys of the account'
  assert.deepEqual(await faultsAfter(set('charged = charged + 1'), set('charged = charged - 1')), [spent])
  assert.deepEqual(await faultsAfter(set('held = held + 1'), set('held = held - 1')), [held])
  assert.deepEqual(await faultsAfter(set('credit_lent = 1'), set('credit_lent = 0')), [credit])
  const mark = (to: boolean) => `update account set has_budgets = ${to} where id = '${team.accountId}'`
  assert.deepEqual(await faultsAfter(mark(false), mark(true)), [marked])
})
