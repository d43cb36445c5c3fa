import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurnstile } from './turnstile.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('work runs a few at a time, in the order of its arrival, even after an error', async () => {
  const turnstile = createTurnstile(2)
  const begun: number[] = []
  const ends: PromiseWithResolvers<number>[] = []
  const begin = (n: number) =>
    turnstile.run(() => {
      begun.push(n)
      const end = Promise.withResolvers<number>()
      ends.push(end)
      return end.promise
    })
  const all = [0, 1, 2, 3].map(begin)
  await settle()
  assert.deepEqual([begun, turnstile.waiting()], [[0, 1], 2])
  ends[1]?.reject(new Error('expected'))
  await assert.rejects(all[1] ?? assert.fail(), /expected/)
  await settle()
  assert.deepEqual([begun, turnstile.waiting()], [[0, 1, 2], 1])
  for (const n of [0, 2, 3]) {
    ends[n]?.resolve(n)
    await settle()
  }
  assert.deepEqual(await Promise.all([all[0], all[2], all[3]]), [0, 2, 3])
  assert.deepEqual([begun, turnstile.waiting()], [[0, 1, 2, 3], 0])
  const again = begin(4)
  await settle()
  assert.equal(begun.at(-1), 4)
  ends[4]?.resolve(4)
  assert.equal(await again, 4)
})

test('a pause lies between turns if another one waits, and nobody waits after the last', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turnstile = createTurnstile(1, { pause: 10 })
  const begun: number[] = []
  const begin = (n: number) => turnstile.run(async () => void begun.push(n))
  const both = [begin(0), begin(1)]
  await settle()
  t.mock.timers.tick(9)
  await settle()
  assert.deepEqual([begun, turnstile.waiting()], [[0], 1])
  t.mock.timers.tick(1)
  await Promise.all(both)
  assert.deepEqual([begun, turnstile.waiting()], [[0, 1], 0])
  await begin(2)
  assert.deepEqual(begun, [0, 1, 2])
})
