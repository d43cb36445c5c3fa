import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { objectAt } from '../../../../tests/support/json.ts'
import { Failure } from '../failure.ts'
import { createListReader } from './list-reader.ts'

const roomy = { item: 1000, rest: 1000 }

function read(text: string | Buffer, size: number, most = roomy) {
  const bytes = Buffer.from(text)
  const list = createListReader('data', most)
  const items: unknown[] = []
  for (let at = 0; at < bytes.length; at += size) items.push(...list.push(bytes.subarray(at, at + size)))
  return { items, rest: list.end() }
}

/** The document, put together again. */
function whole(text: string | Buffer, size: number): unknown {
  const { items, rest } = read(text, size)
  const { data } = objectAt(rest)
  assert.deepEqual(
    data,
    items.map(() => ({})),
  )
  return { ...objectAt(rest), data: items }
}

const data = [
  { index: 0, embedding: [0.1, -2e-7, 5e-324, 1.7976931348623157e308], text: 'a "quoted" \\ ]}[{ "data":[' },
  { 'kéy \\"': ['ünïcödé 🜂', '\\\\', '\\\\"'], nested: [{ data: [{ data: [[]] }] }] },
  {},
  { embedding: 'AAAA' },
]
const documents: Readonly<Record<string, string>> = {
  compact: JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 3, 'é"]': '🜂\\' } }),
  'with spaces': JSON.stringify({ object: 'list', data, usage: null }, null, 2),
  'with other lists': JSON.stringify({ a: [{ b: 1 }], c: { data: [{}] }, data, d: [[{}], []], 'e"': 'data' }),
  'with an empty list': '{"data": [ ] }',
}

describe('A list that arrives in chunks', () => {
  for (const [name, text] of Object.entries(documents)) {
    it(`is the same wherever it is cut: ${name}`, () => {
      for (let size = 1; size <= Buffer.byteLength(text); size++) {
        assert.deepEqual(whole(text, size), JSON.parse(text), `chunks of ${size} bytes`)
      }
    })
  }

  it('is passed on item by item, each with its last byte', () => {
    const list = createListReader('data', roomy)
    const [begun, ...ends] = '{"data":[{"a":[1]},{"a":2},{"b":"}"}'.split(/(?<=\})/)
    assert.deepEqual([...list.push(Buffer.from(begun?.slice(0, -1) ?? ''))], [])
    assert.deepEqual([...list.push(Buffer.from('}'))], [{ a: [1] }])
    assert.deepEqual([...list.push(Buffer.from(ends.join('')))], [{ a: 2 }, { b: '}' }])
  })

  it('is refused exactly where JSON.parse refuses the whole', () => {
    const text = '{"a":[1],"data":[{"b":"c\\"","d":[1,2]},{}],"e":{"f":null}}'
    const changes = ['', ...Array.from('[]{},:"\\0e ')].flatMap((put) => [[0, put] as const, [1, put] as const])
    let refused = 0
    for (let at = 0; at <= text.length; at++) {
      for (const [cut, put] of changes) {
        const changed = text.slice(0, at) + put + text.slice(at + cut)
        const isJson = isParsed(changed)
        // Without its name, the list is not found.
        if (isJson && !/"data"\s*:\s*\[/.test(changed)) continue
        if (isJson) assert.deepEqual(whole(changed, 7), JSON.parse(changed), changed)
        else assert.throws(() => read(changed, 7), Failure, changed)
        refused += isJson ? 0 : 1
      }
    }
    assert.ok(refused > 500, `${refused}`)
  })

  it('takes no placeholder for an item', () => {
    const { items, rest } = read('{"data":[1,{"a":1},"b"]}', 3)
    assert.deepEqual([items, rest], [[{ a: 1 }], { data: [1, {}, 'b'] }])
  })

  it('is bounded: each item, and everything else', () => {
    const most = { item: 20, rest: 40 }
    const items = Array.from({ length: 9 }, () => '{"a":"123456789012"}').join(',')
    assert.equal(items.split(',')[0]?.length, most.item)
    assert.equal(read(`{"data":[${items}]}`, 8, most).items.length, 9)
    for (const text of [
      '{"data":[{"a":"1234567890123"}]}',
      `{"data":[{"a":[${'['.repeat(1000)}`,
      `{"data":[{"a":"${'x'.repeat(1000)}`,
      `{"data":[{}${' '.repeat(1000)}`,
      `{"more":"${'x'.repeat(1000)}`,
      `{"more":${'['.repeat(1000)}`,
      '['.repeat(1000),
    ]) {
      assert.throws(() => read(text, 8, most), /invalid response/, text)
    }
  })
})

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
