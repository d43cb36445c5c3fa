import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pace } from './pace.ts'
import { valuesOf } from '../../../tests/support/json.ts'

/** Longer than long work may go on in one turn of the event loop. */
const step = 10

function work(): void {
  const end = performance.now() + step
  while (performance.now() < end);
}

test('long works take turns: each turn of the event loop has one step of one of them', async () => {
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  const works = ['a', 'b', 'c', 'd']
  const seen: { readonly turn: number; readonly name: string }[] = []
  async function run(name: string): Promise<void> {
    // A step that precedes the first call is not seen.
    await pace()
    for (let left = 3; left > 0; left--) {
      work()
      await pace()
      seen.push({ turn, name })
    }
  }
  await Promise.all(works.map(run))
  clearImmediate(next)
  assert.deepEqual(valuesOf(seen, 'name'), [...works, ...works, ...works])
  assert.equal(new Set(seen.map((each) => each.turn)).size, seen.length, 'no two in one turn')
})
