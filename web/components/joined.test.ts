import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joined } from './joined.ts'

const pages = (ids: string, next: string) => ({ rows: Array.from(ids, (id) => ({ id })), next })
const cases: [what: string, first: string, longer: string, shown: string][] = [
  ['nothing has changed', 'abc', 'abcdef', 'abcdef'],
  ['a row was added', 'xab', 'abcdef', 'xabcdef'],
  ['a row was removed', 'acd', 'abcdef', 'acdef'],
  ['a row of a later page has moved to the top', 'eab', 'abcdef', 'eabcdf'],
  ['a row of the first page has moved to the last', 'abc', 'abcdefb', 'abcdef'],
  ['a row of another page has moved to the last', 'abc', 'abcdefd', 'abcdef'],
  ['a row was added at the end of the first page', 'abx', 'abcdef', 'abxcdef'],
]
for (const [what, first, longer, shown] of cases) {
  test(`keeps the rows of later pages if ${what}`, () => {
    const list = joined(pages(first, 'old'), pages(longer, 'new'), ({ id }) => id)
    assert.deepEqual(list, pages(shown, 'new'))
  })
}

const alone: [what: string, first: string, longer: string][] = [
  ['all rows have changed', 'xyz', 'abc'],
  ['all rows were removed', '', 'abc'],
  ['no later page was fetched', 'abc', 'ab'],
]
for (const [what, first, longer] of alone) {
  test(`keeps only the first page if ${what}`, () => {
    const list = joined(pages(first, 'old'), pages(longer, 'new'), ({ id }) => id)
    assert.deepEqual(list, pages(first, 'old'))
  })
}
