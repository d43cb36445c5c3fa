import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { createJsonSplitter, LongItem } from './json-items.ts'

/** Splits a text that arrives in pieces of this length. */
function split(text: string, length = text.length) {
  const splitter = createJsonSplitter(['data'])
  const parts = Array.from({ length: Math.ceil(text.length / length) }, (_, n) =>
    splitter.push(text.slice(n * length, (n + 1) * length)),
  )
  const all = [...parts, splitter.end()]
  return { items: all.flatMap(({ items }) => items), rests: all.flatMap(({ rests }) => rests) }
}

test('the items of any list are found, however it is written and wherever it is cut', () => {
  const name = fc.oneof(fc.string(), fc.constant('data'))
  const value = fc.oneof(fc.jsonValue(), fc.record({ data: fc.array(fc.jsonValue()), text: fc.string() }))
  const others = fc.dictionary(
    name.filter((each) => !['data', '__proto__'].includes(each)),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.array(value), others, fc.nat(3), fc.integer({ min: 1, max: 50 }), (items, rest, indent, length) => {
      const documents = [{ ...rest, data: items, after: ']},"{' }, items]
      const text = documents.map((each) => JSON.stringify(each, null, indent)).join('\n')
      const found = split(text, length)
      assert.deepEqual(
        found.items.map((item): unknown => JSON.parse(item.text)),
        JSON.parse(JSON.stringify([...items, ...items])),
      )
      assert.deepEqual(
        found.rests.map((each): unknown => JSON.parse(each.text)),
        JSON.parse(JSON.stringify([{ ...rest, data: [], after: ']},"{' }, []])),
      )
    }),
    draws({ test: 200, endure: 5000 }),
  )
})

test('each item has its line, and what is missing or left over stays to be refused', () => {
  const text = '{"has_more": true,\n"data": [\n\n {"a":\n1}, 2\n,\n3]\n}\n[\n4]'
  assert.deepEqual(
    split(text, 3).items.map(({ line, text: item }) => [line, item]),
    [
      [4, '{"a":\n1}'],
      [5, '2'],
      [7, '3'],
      [10, '4'],
    ],
  )
  assert.deepEqual(
    split('{"data":[1,]}').items.map((item) => item.text),
    ['1', ''],
  )
  assert.deepEqual(
    split('{"other":[1]} nonsense').rests.map((rest) => [rest.hasList, rest.text]),
    [
      [false, '{"other":[1]}'],
      [false, 'nonsense'],
    ],
  )
  for (const cut of ['{"data":[1', '["', '[{"a":"\\"}]']) assert.throws(() => split(cut), /ends before it is complete/)
  assert.throws(() => split(`{"x":"${'y'.repeat(1_000_001)}"}`), /no list of usage/)
})

test('a list is known by its whole name, and looked for in no more than what precedes it', () => {
  const names = { 'x"data': [1], 'y\\': [2], data: [3] }
  assert.deepEqual(
    split(JSON.stringify(names)).items.map((item) => item.text),
    ['3'],
  )
  // A search of all that was read, for each of the lists, would not end within the time of a test.
  const lists = '[],'.repeat(100_000)
  assert.deepEqual(split(`{"text":"${'y'.repeat(600_000)}","other":[${lists}[]]}`).items, [])
})

test('an item is refused once it is longer than its reader takes', () => {
  const splitter = createJsonSplitter(['data'], { longest: 10 })
  assert.deepEqual(splitter.push('{"data":["12345678",').items, [{ line: 1, text: '"12345678"' }])
  assert.throws(() => splitter.push('"123456789'.padEnd(11, 'x')), LongItem)
})
