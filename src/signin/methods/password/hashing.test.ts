import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createHashing } from './hashing.ts'

const settings = { memory: 19_456, passes: 2 }

/** Turns that last until they are ended. */
function open(bounds: { atOnce: number; mostWaiting: number }) {
  const { inTurn } = createHashing({ settings, ...bounds })
  const ends: (() => void)[] = []
  let running = 0
  const begin = () =>
    inTurn(async () => {
      running++
      await new Promise<void>((resolve) => ends.push(resolve))
      running--
    })
  return { begin, ends, running: () => running }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('B54: hashing', () => {
  test('runs a few at a time; the others wait for their turn', async () => {
    const { begin, ends, running } = open({ atOnce: 2, mostWaiting: 10 })
    const all = Array.from({ length: 5 }, begin)
    await settle()
    assert.deepEqual([running(), ends.length], [2, 2])
    ends[0]?.()
    await settle()
    assert.deepEqual([running(), ends.length], [2, 3])
    for (let ended = 1; ended < 5; ended++) {
      ends[ended]?.()
      await settle()
    }
    await Promise.all(all)
    assert.equal(running(), 0)
  })

  test('refuses with 503 what would wait too long, and recovers', async () => {
    const { begin, ends } = open({ atOnce: 1, mostWaiting: 2 })
    const all = Array.from({ length: 3 }, begin)
    await assert.rejects(begin(), (error: unknown) => {
      assert.ok(error instanceof Error && 'code' in error && 'details' in error)
      assert.deepEqual([error.code, error.details], ['overloaded', { retryAfter: 5 }])
      return true
    })
    for (let ended = 0; ended < 3; ended++) {
      await settle()
      ends[ended]?.()
    }
    await Promise.all(all)
    const again = begin()
    await settle()
    ends[3]?.()
    await again
  })

  test('gives its place to the next also after an error', async () => {
    const { inTurn } = createHashing({ settings, atOnce: 1, mostWaiting: 1 })
    const failing = inTurn(async () => Promise.reject(new Error('expected')))
    const next = inTurn(async () => 'done')
    await assert.rejects(failing, /expected/)
    assert.equal(await next, 'done')
  })

  test('by default takes at most two threads', async () => {
    const { inTurn } = createHashing({ settings })
    let [running, most] = [0, 0]
    await Promise.all(
      Array.from({ length: 20 }, () =>
        inTurn(async () => {
          running++
          most = Math.max(most, running)
          await new Promise((resolve) => setImmediate(resolve))
          running--
        }),
      ),
    )
    assert.ok(most >= 1 && most <= 2, `${most} at once`)
  })
})

test('B52: a missing hash is verified against a dummy of the same cost, and never right', async () => {
  await createHashing({ settings }).inTurn(async ({ verify, hash }) => {
    assert.equal(await verify('anything', undefined), false)
    assert.equal(await verify('anything', await hash('anything')), true)
  })
})
