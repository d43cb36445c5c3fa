import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spellingCases } from '../../../tests/support/spelling-cases.ts'
import { bestMatches, placing } from './spelling.ts'

test('texts are found in every spelling, and by parts of their words (B114)', () => {
  for (const [texts, q, place] of spellingCases) {
    assert.equal(placing(q)(texts), place, `${q} in ${texts.join(', ')}`)
  }
})

test('the best match comes first, equal ones in their order, and an empty query finds all', () => {
  const names = ['Stockholm', 'Holmes', 'Berg', 'Zoe Holm', 'Anna Hölm', 'holm']
  const best = ['holm', 'Zoe Holm', 'Anna Hölm', 'Holmes', 'Stockholm']
  assert.deepEqual(
    bestMatches(names, ' holm ', (name) => [name]),
    best,
  )
  assert.deepEqual(
    bestMatches(names, ' ', (name) => [name]),
    names,
  )
})
