import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

const taken = (weights: Record<string, number>, times: number): string => {
  const turns = createTurns(Object.entries(weights).map(([name, weight]) => ({ name, weight })))
  return Array.from({ length: times }, () => turns.next()?.name).join('')
}

test('turns follow the weights and are spread out', () => {
  assert.equal(taken({ a: 1, b: 1 }, 6), 'ababab')
  assert.equal(taken({ a: 5, b: 1, c: 1 }, 14), 'aabacaaaabacaa')
  assert.equal(taken({ a: 1 }, 3), 'aaa')
})

test('an entry without a weight counts as one of weight 1', () => {
  const turns = createTurns([{ name: 'a' }, { name: 'b', weight: 2 }])
  assert.deepEqual(
    Array.from({ length: 6 }, () => turns.next()?.name),
    ['b', 'a', 'b', 'b', 'a', 'b'],
  )
})

test('an empty list is refused', () => {
  assert.throws(() => createTurns([]), RangeError)
})
