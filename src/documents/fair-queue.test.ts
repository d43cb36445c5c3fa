import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from './fair-queue.ts'

/** A queue whose pieces end when the test says so, and the names of those that ran, in their order. */
function stage() {
  const queue = createFairQueue()
  const ran: string[] = []
  const gate = Promise.withResolvers<void>()
  const add = (by: string, name: string, urgent = false) =>
    queue.add(
      by,
      async () => {
        await gate.promise
        ran.push(name)
        return name
      },
      { urgent },
    )
  return { queue, ran, add, open: gate.resolve }
}

test('people take turns, and what is urgent comes first', async () => {
  const { queue, ran, add, open } = stage()
  const all = [add('a', 'a1'), add('a', 'a2'), add('a', 'a3'), add('b', 'b1'), add('c', 'c1'), add('b', 'b2')]
  all.push(add('a', 'urgent', true))
  assert.deepEqual([queue.waitingOf('a'), queue.waitingOf('b'), queue.waitingOf('d'), queue.waiting], [2, 2, 0, 6])
  open()
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'b1', 'c1', 'b2', 'urgent'])
  assert.deepEqual(ran, ['a1', 'urgent', 'b1', 'c1', 'a2', 'b2', 'a3'])
  assert.equal(queue.waiting, 0)
})

test('a piece that fails does not stop the others', async () => {
  const queue = createFairQueue()
  const failing = queue.add('a', () => Promise.reject(new Error('no')))
  const second = queue.add('a', () => Promise.resolve(2))
  await assert.rejects(failing, /no/)
  assert.equal(await second, 2)
})
