import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../../platform/problems.ts'
import { createQueue } from './queue.ts'

const never = new AbortController().signal
const ask = { signal: never }

void test('running and waiting places are limited, and a further request is refused at once', async () => {
  const queue = createQueue({ turns: 2, waiting: 1 })
  await queue.enter(ask)
  await queue.enter(ask)
  void queue.enter(ask)
  await assert.rejects(queue.enter(ask), (error) => {
    assert.ok(error instanceof Problem)
    assert.equal(error.code, 'overloaded')
    const { retryAfter } = error.details
    return retryAfter !== undefined && Number.isInteger(retryAfter) && retryAfter >= 1
  })
})

void test('the longest waiting request is next', async () => {
  const queue = createQueue({ turns: 1, waiting: 3 })
  const first = await queue.enter(ask)
  const order: string[] = []
  const others = ['b', 'c', 'd'].map(async (name) => {
    using turn = await queue.enter(ask)
    order.push(turn ? name : 'none')
  })
  assert.deepEqual(order, [])
  first?.[Symbol.dispose]()
  await Promise.all(others)
  assert.deepEqual(order, ['b', 'c', 'd'])
})

void test('a turn returned twice admits only one request', async () => {
  const queue = createQueue({ turns: 1, waiting: 2 })
  const turn = await queue.enter(ask)
  let entered = 0
  for (let index = 0; index < 2; index += 1) void queue.enter(ask).then(() => (entered += 1))
  turn?.[Symbol.dispose]()
  turn?.[Symbol.dispose]()
  await setImmediate()
  assert.equal(entered, 1)
})

void test('a caller who disconnects leaves the queue and frees the place', async () => {
  const queue = createQueue({ turns: 1, waiting: 1 })
  const turn = await queue.enter(ask)
  const caller = new AbortController()
  const waiting = queue.enter({ signal: caller.signal })
  caller.abort()
  assert.equal(await waiting, undefined)
  const next = queue.enter(ask)
  turn?.[Symbol.dispose]()
  assert.notEqual(await next, undefined)
})

void test('a caller who disconnected earlier gets no turn', async () => {
  const queue = createQueue({ turns: 1, waiting: 1 })
  assert.equal(await queue.enter({ signal: AbortSignal.abort() }), undefined)
  assert.notEqual(await queue.enter(ask), undefined)
})

void test('it is idle when nothing runs or waits', async () => {
  const queue = createQueue({ turns: 1, waiting: 1 })
  await queue.idle()
  const turn = await queue.enter(ask)
  const next = queue.enter(ask)
  let isIdle = false
  const idle = queue.idle().then(() => (isIdle = true))
  turn?.[Symbol.dispose]()
  await setImmediate()
  assert.equal(isIdle, false)
  const second = await next
  second?.[Symbol.dispose]()
  await idle
})

async function enterAndNote(queue: ReturnType<typeof createQueue>, account: string, order: string[]): Promise<void> {
  using turn = await queue.enter({ signal: never, account })
  order.push(turn ? account : 'none')
}

void test('accounts take turns, however many requests each has waiting', async () => {
  const queue = createQueue({ turns: 1, waiting: 9 })
  const first = await queue.enter(ask)
  const order: string[] = []
  const work = ['a', 'a', 'a', 'a', 'b', 'c', 'b'].map((account) => enterAndNote(queue, account, order))
  first?.[Symbol.dispose]()
  await Promise.all(work)
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a', 'a'])
})

void test('an account that floods the queue loses its newest request to another account', async () => {
  const queue = createQueue({ turns: 1, waiting: 3 })
  const first = await queue.enter(ask)
  const order: string[] = []
  const flood = ['a', 'a', 'a'].map((account) => enterAndNote(queue, account, order))
  const other = enterAndNote(queue, 'b', order)
  await assert.rejects(flood[2] ?? Promise.resolve(), { code: 'overloaded' })
  await assert.rejects(enterAndNote(queue, 'a', order), { code: 'overloaded' })
  await assert.rejects(
    enterAndNote(queue, 'b', order),
    { code: 'overloaded' },
    'two of one account and one of the other is fair',
  )
  first?.[Symbol.dispose]()
  await Promise.all([flood[0], flood[1], other])
  assert.deepEqual(order, ['a', 'b', 'a'])
})
