import assert from 'node:assert/strict'
import { before, mock, test } from 'node:test'
import { ask, mostOfOne, price } from '../../../tests/support/tills.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { createAllowances, type Allowances, type RequestOutcome, type AdmittedRequest } from './allowances.ts'
import { unit, type Standing } from '../till/limits.ts'
import { renewAfter, validFor } from './stock.ts'
import type { Payer } from '../payer.ts'

// An instance's reports step by step. Each test chooses the responses.

/** Advanced only by the tests. */
let time = 1_000_000
before(() => void mock.method(performance, 'now', () => time))

const payer: Payer = { accountId: 'a', keyId: 'k' }
/** Full buckets that refill by one request and a hundred tokens per ms. */
const full: Standing = {
  request_level: 60_000n * unit,
  token_level: 6_000_000n * unit,
  requests_per_minute: 60_000,
  tokens_per_minute: 6_000_000,
}

/** Sends requests that no allowance covers. */
function inVain(allowances: Allowances, times: number): void {
  for (let round = 0; round < times; round++) assert.equal(allowances.take(ask(payer)), undefined)
}

/** Returns the account's report, which must be the only one. */
function reportOf(allowances: Allowances, endings: readonly RequestOutcome[] = []) {
  const { accounts, keys } = allowances.report(endings)
  const [report, ...others] = accounts
  assert.deepEqual([others, keys], [[], []])
  return report ?? assert.fail('nothing is reported')
}

function answer(
  allowances: Allowances,
  granted: boolean,
  at = performance.now(),
  endings: readonly RequestOutcome[] = [],
) {
  allowances.answered(endings, [{ id: payer.accountId, granted, ...full }], at)
}

/** Whether something is reported after a while. */
function dueAfterAWhile(allowances: Allowances): boolean {
  time += renewAfter + 50
  return allowances.due()
}

/** Allowances with eight requests of the account: four recent ones and one more, rounded up. */
function stocked(): Allowances {
  const allowances = createAllowances()
  allowances.startOver('one')
  grant(allowances)
  return allowances
}

function grant(allowances: Allowances): void {
  inVain(allowances, 4)
  allowances.noted(payer.accountId, full, performance.now())
  assert.equal(reportOf(allowances).at_hand, 8)
  answer(allowances, true)
}

function taken(allowances: Allowances): AdmittedRequest {
  const each = ask(payer)
  assert.ok(allowances.take(each))
  return allowances.taken(each.requestId) ?? assert.fail()
}

test('a report requests as much as was used lately plus one, rounded up to a power of two', () => {
  const allowances = createAllowances()
  inVain(allowances, 4)
  allowances.noted(payer.accountId, full, performance.now())
  assert.ok(allowances.due())
  const { at_hand, more_requests, more_tokens, more_credit, ...rest } = reportOf(allowances)
  assert.deepEqual([at_hand, more_requests, more_tokens, more_credit], [8, 8, 240, 8n * mostOfOne])
  assert.deepEqual([rest.requests, rest.tokens, rest.credit, rest.held], [0, 0, 0n, 0n])
})

test('an allowance grows with the requests at once, also those that it was too small for, up to a hundredth of the limits', () => {
  const allowances = stocked()
  const endings = Array.from({ length: 8 }, () => [{ taken: taken(allowances) }])
  inVain(allowances, 8)
  const sizes = endings.slice(0, 3).map((ending, round) => {
    if (round === 2) allowances.noted(payer.accountId, { ...full, request_level: 300n * unit }, performance.now())
    assert.ok(dueAfterAWhile(allowances))
    const { at_hand } = reportOf(allowances, ending)
    answer(allowances, true, performance.now(), ending)
    return at_hand
  })
  assert.deepEqual(sizes, [32, 32, 3])
})

test('a grant counts once, even if the response repeats it', () => {
  const allowances = createAllowances()
  allowances.startOver('one')
  inVain(allowances, 4)
  allowances.noted(payer.accountId, full, performance.now())
  assert.equal(reportOf(allowances).at_hand, 8)
  const renewal = { id: payer.accountId, granted: true, ...full }
  allowances.answered([], [renewal, renewal], performance.now())
  for (let request = 0; request < 8; request++) taken(allowances)
  inVain(allowances, 1)
})

test('nothing is requested for an account with few requests or nearly empty buckets', () => {
  for (const [times, level, isDue] of [
    [3, full, false],
    [4, full, true],
    [4, { ...full, request_level: 200n * unit - 1n }, false],
    [4, { ...full, request_level: 200n * unit }, true],
    [4, { ...full, token_level: 6000n * unit - 1n }, false],
    [4, { ...full, token_level: 6000n * unit }, true],
  ] as const) {
    const allowances = createAllowances()
    inVain(allowances, times)
    allowances.noted(payer.accountId, level, performance.now())
    assert.equal(allowances.due(), isDue)
  }
})

test('an ended request returns its unused part and the surplus of the allowance', () => {
  const allowances = stocked()
  // The demand of four declines to three.
  for (let pause = 0; pause < 5; pause++) {
    assert.ok(dueAfterAWhile(allowances))
    const { at_hand, requests_back } = reportOf(allowances)
    assert.deepEqual([at_hand, requests_back], [8, 0], 'a pause changes nothing at first')
    answer(allowances, true)
  }
  const [one] = [taken(allowances), taken(allowances)]
  const ending = { taken: one, charge: { cost: 7n, tokens: 13, milliseconds: 1 } }
  assert.ok(dueAfterAWhile(allowances))
  // Of the remaining six, three suffice besides the one in flight.
  assert.deepEqual(reportOf(allowances, [ending]), {
    id: 'a',
    requests_back: 3,
    tokens_back: 90 + 17,
    held: 0n,
    credit: 4n * mostOfOne,
    requests: 3,
    tokens: 90 + 30,
    at_hand: 4,
    cost: mostOfOne,
    need: 30,
    more_credit: 0n,
    more_requests: 0,
    more_tokens: 0,
  })
  answer(allowances, true, performance.now(), [ending])
  assert.equal(allowances.taken(one.request.requestId), undefined)
  for (let round = 0; round < 3; round++) taken(allowances)
  inVain(allowances, 1)
})

test('each refusal halves the next request at once, down to two; much later, a grant doubles it', () => {
  const allowances = createAllowances()
  const sizes: number[] = []
  let at = performance.now()
  const round = (granted: boolean) => {
    for (let each = 0; each < 60; each++) allowances.take(ask(payer))
    at += 1
    allowances.noted(payer.accountId, full, at)
    sizes.push(reportOf(allowances).at_hand)
    answer(allowances, granted, at)
  }
  for (let refusals = 0; refusals < 6; refusals++) round(false)
  assert.deepEqual(sizes, [64, 32, 16, 8, 4, 2])
  at += validFor
  allowances.noted(payer.accountId, full, at)
  assert.ok(!allowances.due(), 'the smallest one is not requested again within a second')
  round(true)
  for (const [pause, size] of [
    [0, 2],
    [10_001, 2],
    [0, 4],
    [0, 8],
  ] as const) {
    at += pause
    const ending = { taken: taken(allowances) }
    for (let each = 0; each < 60; each++) allowances.take(ask(payer))
    assert.equal(reportOf(allowances, [ending]).at_hand, size)
    answer(allowances, true, at, [ending])
  }
})

test('an allowance not reported for a while is reported, to renew or to return it', () => {
  const [used, idle] = [stocked(), stocked()]
  for (const each of [used, idle]) assert.ok(!each.due())
  time += renewAfter + 50
  taken(used)
  assert.ok(used.due())
  // One in an eighth of the usual time is eight until the next report.
  assert.equal(reportOf(used).at_hand, 16)
  assert.ok(idle.giveBack(payer.accountId))
  const { at_hand, requests_back, tokens_back, credit } = reportOf(idle)
  assert.deepEqual([at_hand, requests_back, tokens_back, credit], [0, 8, 240, 0n])
  answer(idle, false)
  assert.ok(!idle.giveBack(payer.accountId), 'nothing remains to return')
  inVain(idle, 1)
})

test('after a refusal, the rest is returned when the request in flight ends in another way', () => {
  const allowances = stocked()
  const [one, other] = [taken(allowances), { taken: taken(allowances) }]
  assert.ok(dueAfterAWhile(allowances))
  reportOf(allowances, [other])
  answer(allowances, false, performance.now(), [other])
  assert.ok(allowances.due(), 'the rest is returned at once')
  assert.deepEqual([reportOf(allowances).held, allowances.due()], [mostOfOne, false])
  answer(allowances, false)
  assert.ok(!allowances.due())
  allowances.dropped({ taken: one })
  assert.ok(allowances.due())
  assert.deepEqual([reportOf(allowances).held, allowances.taken(one.request.requestId)], [0n, undefined])
})

test('a new instance has no allowance and ignores requests of the previous one', () => {
  const allowances = stocked()
  const old = taken(allowances)
  allowances.giveBack(payer.accountId)
  allowances.startOver('two')
  assert.ok(!allowances.due())
  assert.equal(allowances.levels(payer.accountId), undefined)
  grant(allowances)
  taken(allowances)
  allowances.dropped({ taken: old })
  assert.equal(reportOf(allowances).held, mostOfOne)
})

test('remaining never exceeds the limit, whatever the allowance', () => {
  const { requests, tokens } = stocked().levelsFor(payer) ?? assert.fail()
  assert.deepEqual([requests.remaining, requests.resetSeconds], [60_000, 0])
  assert.deepEqual([tokens.remaining, tokens.resetSeconds], [6_000_000, 0])
})

test('levels are the last known ones, plus the refill since and the allowance', () => {
  const allowances = stocked()
  const standing = { ...full, request_level: 1000n * unit, token_level: 0n }
  allowances.answered([], [{ id: payer.accountId, granted: true, ...standing }], performance.now())
  time += 50
  const { requests, tokens } = allowances.levelsFor(payer) ?? assert.fail()
  assert.deepEqual([requests.remaining, tokens.remaining], [1008 + 50, 240 + 100 * 50])
})

test('an allowance admits only what its credit, tokens and requests all cover', () => {
  const cheap = { input: 1n, output: 2n }
  const dear = { input: 9n * price.input, output: 9n * price.output }
  const allowances = stocked()
  assert.equal(
    allowances.take(ask(payer, { price: dear })),
    undefined,
    'the credit covers eight requests at the usual price',
  )
  assert.equal(allowances.take(ask(payer, { price: cheap, maxOutputTokens: 231 })), undefined, 'it has 240 tokens')
  assert.ok(allowances.take(ask(payer, { price: cheap, maxOutputTokens: 200 })))
  for (let request = 0; request < 7; request++) {
    assert.ok(allowances.take(ask(payer, { price: cheap, inputTokens: 1, maxOutputTokens: 1 })))
  }
  const ninth = ask(payer, { price: cheap, inputTokens: 1, maxOutputTokens: 1 })
  assert.equal(allowances.take(ninth), undefined, 'it has 8 requests')
})

test('an allowance is valid for a second after its report was sent', () => {
  const allowances = stocked()
  time += validFor
  assert.ok(allowances.take(ask(payer)))
  time += 1
  assert.equal(allowances.take(ask(payer)), undefined)
})

// The limits of a key.

const limited: Payer = { ...payer, limitId: 'l' }
const few: Standing = { ...full, requests_per_minute: null, token_level: 300_000n * unit, tokens_per_minute: 600_000 }

/** Allowances of eight requests of the account and of its key. */
function stockedKey(): Allowances {
  const allowances = createAllowances()
  allowances.startOver('one')
  for (let round = 0; round < 4; round++) assert.equal(allowances.take(ask(limited)), undefined)
  allowances.noted('a', full, performance.now())
  allowances.noted('l', few, performance.now())
  const { accounts, keys } = allowances.report([])
  assert.deepEqual([accounts[0]?.at_hand, keys[0]?.at_hand], [8, 8])
  answerBoth(allowances, true)
  return allowances
}

function answerBoth(allowances: Allowances, granted: boolean, endings: readonly RequestOutcome[] = []) {
  const renewals = [
    { id: 'a', granted: true, ...full },
    { id: 'l', granted, ...few },
  ]
  allowances.answered(endings, renewals, performance.now())
}

function takenBy(allowances: Allowances, who = limited): AdmittedRequest {
  const each = ask(who)
  assert.ok(allowances.take(each))
  return allowances.taken(each.requestId) ?? assert.fail()
}

test('after a lost response no allowance is used, and nothing is returned twice', () => {
  const allowances = stockedKey()
  takenBy(allowances)
  allowances.lost()
  for (const who of [payer, limited]) assert.equal(allowances.take(ask(who)), undefined)
  assert.ok(allowances.due())
  const { accounts, keys } = allowances.report([])
  const all = [...accounts, ...keys]
  assert.deepEqual(
    all.map(({ at_hand, requests, requests_back, credit }) => [at_hand, requests, requests_back, credit]),
    [1, 2].map(() => [0, 0, 0, 0n]),
  )
  assert.deepEqual(valuesOf(all, 'held'), [mostOfOne, mostOfOne], 'requests in flight stay held')
})

test('a request of a key with limits needs the allowances of both, and takes from both', () => {
  const allowances = stockedKey()
  for (let request = 0; request < 3; request++) takenBy(allowances)
  for (let request = 0; request < 5; request++) takenBy(allowances, payer)
  assert.equal(allowances.take(ask(payer)), undefined, 'the account has no more')
  assert.equal(allowances.take(ask(limited)), undefined, 'nor has it for the key')
  const { requests, tokens } = allowances.atHand('l')
  assert.deepEqual([requests, tokens], [5, 150])
  const other = stockedKey()
  other.giveBack('l')
  other.report([])
  assert.equal(other.take(ask(limited)), undefined, 'without an allowance of the key')
  assert.ok(other.take(ask(payer)), 'the account has one for other keys')
})

test('good allowances are not reported when their requests end, and get back what those did not use', () => {
  const allowances = stockedKey()
  const one = takenBy(allowances)
  const ending = { taken: one, charge: { cost: mostOfOne - 7n, tokens: 13 } }
  assert.deepEqual(allowances.report([ending]), { accounts: [], keys: [], budgets: [] })
  allowances.answered([ending], [], performance.now())
  for (const id of ['a', 'l']) {
    const { requests, tokens, credit } = allowances.atHand(id)
    assert.deepEqual([requests, tokens, credit], [7, 210 + 17, 7n * mostOfOne + 7n])
  }
  const released = { taken: takenBy(allowances) }
  allowances.report([released])
  allowances.answered([released], [], performance.now())
  const after = allowances.atHand('l')
  assert.deepEqual([after.requests, after.tokens, after.credit], [6, 227, 7n * mostOfOne + 7n])
})

test('a request whose hold moves leaves nothing of what it took, neither to the account nor to its key', () => {
  const allowances = stockedKey()
  const { accounts, keys } = allowances.report([{ taken: takenBy(allowances), moves: true }])
  for (const [report] of [accounts, keys]) {
    assert.deepEqual([report?.held, report?.credit, report?.requests, report?.tokens], [0n, 7n * mostOfOne, 7, 210])
    assert.equal(report?.tokens_back, 0)
  }
})

test('what became of a request is unknown after a lost connection, so the key gets nothing back', () => {
  const allowances = stockedKey()
  const one = takenBy(allowances)
  allowances.dropped({ taken: one, charge: { cost: 1n, tokens: 1 } })
  const { keys } = allowances.report([])
  assert.deepEqual(
    keys.map(({ requests_back, tokens_back, held, credit, requests, tokens }) => [
      requests_back,
      tokens_back,
      held,
      credit,
      requests,
      tokens,
    ]),
    [[7, 210, 0n, 0n, 0, 0]],
  )
})

test('a report of a key counts no request that ends with it', () => {
  const allowances = stockedKey()
  const ending = { taken: takenBy(allowances), charge: { cost: mostOfOne, tokens: 30 } }
  assert.ok(allowances.giveBack('l'))
  const [report] = allowances.report([ending]).keys
  assert.deepEqual([report?.at_hand, report?.held, report?.tokens], [0, 0n, 0])
  answerBoth(allowances, false, [ending])
  time += renewAfter + 50
  allowances.due()
  assert.deepEqual(allowances.report([]).keys, [], 'and then no more')
})

test('an allowance of a key that runs low is renewed at once, in flight or not', () => {
  const allowances = stockedKey()
  for (let request = 0; request < 6; request++) takenBy(allowances)
  assert.ok(!allowances.due())
  takenBy(allowances)
  assert.ok(allowances.due(), 'one of eight is left')
  time += 350
  const [report] = allowances.report([]).keys
  // Seven in half the usual time are fourteen until the next report.
  assert.deepEqual([report?.at_hand, report?.credit, report?.tokens], [16, 8n * mostOfOne, 30 + 7 * 30])
  assert.deepEqual([report?.requests, report?.more_requests, report?.more_tokens], [1, 8, 8 * 30])
})

test('an allowance that runs low is reported once, whatever is taken until the response', () => {
  const allowances = stocked()
  for (let request = 0; request < 7; request++) taken(allowances)
  assert.equal(reportOf(allowances).at_hand, 64)
  taken(allowances)
  assert.equal(allowances.due(), false, 'while the report is in flight')
  answer(allowances, true)
  assert.equal(allowances.due(), false, 'after its response')
  for (let request = 0; request < 56; request++) taken(allowances)
  assert.equal(allowances.due(), true, 'when it runs low again')
})

test('after a pause, an allowance of a key is for as many requests as come since then', () => {
  const allowances = stockedKey()
  time += 5000
  for (let request = 0; request < 4; request++) {
    allowances.take(ask(limited))
    time += 25
  }
  assert.ok(allowances.due())
  const [report] = allowances.report([]).keys
  // Four in a seventh of the usual time are 28 until the next report.
  assert.equal(report?.at_hand, 32)
})

test('a key asks for no more than a hundredth of what its limits have', () => {
  const allowances = createAllowances()
  allowances.startOver('one')
  for (let round = 0; round < 60; round++) allowances.take(ask(limited))
  allowances.noted('a', full, performance.now())
  allowances.noted('l', { ...few, token_level: 100n * 30n * 20n * unit + unit }, performance.now())
  const { accounts, keys } = allowances.report([])
  assert.deepEqual([accounts[0]?.at_hand, keys[0]?.at_hand], [64, 20])
})

test('a key whose limits are gone is forgotten with its allowance', () => {
  const allowances = stockedKey()
  const one = takenBy(allowances)
  time += renewAfter + 50
  assert.ok(allowances.due())
  assert.equal(allowances.report([]).keys.length, 1)
  answer(allowances, true)
  assert.equal(allowances.levels('l'), undefined)
  const ending = { taken: one, charge: { cost: 1n, tokens: 1 } }
  allowances.report([ending])
  answer(allowances, true, performance.now(), [ending])
  assert.equal(allowances.levels('l'), undefined)
  assert.equal(allowances.take(ask(limited)), undefined)
})

test('the levels of a payer are those of the key where it has less left', () => {
  const allowances = stockedKey()
  const levels = allowances.levelsFor(limited)
  assert.deepEqual([levels?.requests.limit, levels?.tokens.limit], [60_000, 600_000])
  assert.equal(allowances.levelsFor(payer)?.tokens.limit, 6_000_000)
})
