import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joined } from './joined.ts'

const pages = (ids: string, next: string) => ({ rows: Array.from(ids, (id) => ({ id })), next })
const cases: [what: string, first: string, longer: string, shown: string][] = [
  ['nothing has changed', 'abc', 'abcdef', 'abcdef'],
  ['a row has come', 'xab', 'abcdef', 'xabcdef'],
  ['a row has gone', 'acd', 'abcdef', 'acdef'],
  ['a row of a later page has come to the top', 'eab', 'abcdef', 'eabcdf'],
  ['a row of the first page has come to the last', 'abc', 'abcdefb', 'abcdef'],
  ['a row of another page has come to the last', 'abc', 'abcdefd', 'abcdef'],
  ['a row has come to the end of the first page', 'abx', 'abcdef', 'abxcdef'],
]
for (const [what, first, longer, shown] of cases) {
  test(`a list that was made longer, when ${what}`, () => {
    const list = joined(pages(first, 'old'), pages(longer, 'new'), ({ id }) => id)
    assert.deepEqual(list, pages(shown, 'new'))
  })
}

const alone: [what: string, first: string, longer: string][] = [
  ['nothing is as it was', 'xyz', 'abc'],
  ['all has gone', '', 'abc'],
  ['no more than it holds was fetched', 'abc', 'ab'],
]
for (const [what, first, longer] of alone) {
  test(`a list is its first page, when ${what}`, () => {
    const list = joined(pages(first, 'old'), pages(longer, 'new'), ({ id }) => id)
    assert.deepEqual(list, pages(first, 'old'))
  })
}
