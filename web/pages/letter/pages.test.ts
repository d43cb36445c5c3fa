import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pagesIn, pagesText } from './pages.ts'

test('pages are read as people write them, and written again', () => {
  assert.deepEqual(pagesIn('1-3, 7,2'), [1, 2, 3, 7])
  assert.deepEqual(pagesIn(' 12 – 13 '), [12, 13])
  for (const text of ['', '0', '3-1', '1,', 'two', '1-9999', '1.5']) assert.equal(pagesIn(text), undefined, text)
  assert.equal(pagesText([1, 2, 3, 7, 9, 10]), '1-3, 7, 9-10')
  assert.equal(pagesText([]), '')
})
