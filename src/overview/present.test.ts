import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countedDisputes as most } from './store.ts'
import { presentDisputes } from './present.ts'

test('a total is exact up to the most that are counted, and so is their amount', () => {
  const shown = [most, most + 1].map((total) => presentDisputes({ items: [], total, amount: '7' }, 'EUR'))
  const rest = { items: [], total: most }
  assert.deepEqual(shown, [
    { ...rest, total_is_exact: true, amount: '0.000000000007' },
    { ...rest, total_is_exact: false, amount: null },
  ])
})
