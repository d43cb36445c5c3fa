import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../../tests/support/draws.ts'
import { findExcess, hasMoreText, mostNames } from './json-bytes.ts'

const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
const excessOf = (json: string) => findExcess(Buffer.from(json))
const isDeep = (json: string) => excessOf(json)?.of === 'levels'

describe('JSON that is nested too deeply', () => {
  it('has more than 256 levels', () => {
    assert.equal(isDeep(nested(256)), false)
    assert.equal(isDeep(nested(258)), true)
    assert.equal(isDeep(`[${nested(256)}]`), true)
    assert.equal(isDeep('['.repeat(257)), true)
    assert.equal(isDeep('{"a":'.repeat(257)), true)
  })

  it('has more than another limit', () => {
    assert.equal(findExcess(Buffer.from(nested(128)), 128), undefined)
    assert.deepEqual(findExcess(Buffer.from(nested(130)), 128), { of: 'levels' })
  })

  it('is not JSON with many values, one after another', () => {
    assert.equal(isDeep(`[${`${nested(254)},`.repeat(10)}]`), false)
  })

  it('is not JSON with brackets in its strings', () => {
    const open = '[{'.repeat(300)
    for (const text of [
      open,
      `"${open}`,
      `\\"${open}`,
      `\\\\"${open}"`,
      `${'x'.repeat(600)}"${open}`,
      `\n${open}\u0022[`,
    ]) {
      assert.equal(isDeep(JSON.stringify({ [text]: [text, { text }] })), false, text.slice(0, 9))
    }
    assert.equal(isDeep(`["\\\\",${'['.repeat(256)}`), true)
    assert.equal(isDeep(`["${'x'.repeat(600)}\\\\",${'['.repeat(256)}`), true)
  })

  it('can be any bytes', () => {
    assert.equal(isDeep(`${']'.repeat(300)}${'['.repeat(256)}`), false)
    assert.equal(isDeep(`"${'['.repeat(300)}`), false)
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (json) => assert.equal(isDeep(json), false)),
      draws({ test: 50, endure: 1000 }),
    )
  })
})

/** Two names in a hundred thousand can have the same hash, and count as one. */
const tooMany = mostNames + 100
const namesOf = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`name ${index}`, value]))

describe('JSON with too many names', () => {
  it('has more than 10 000 different ones, in one object or in several', () => {
    assert.equal(mostNames, 10_000)
    assert.equal(excessOf(JSON.stringify(namesOf(mostNames))), undefined)
    const each = Array.from({ length: tooMany }, (_, index) => ({ [`name ${index}`]: 1 }))
    assert.deepEqual(excessOf(JSON.stringify({ first: 1, list: each, last: 1 })), {
      of: 'names',
      field: 'list',
      isOutermost: false,
    })
  })

  it('has one too many of its own, or a field that has them', () => {
    const own = excessOf(JSON.stringify(namesOf(tooMany)))
    assert.ok(own?.of === 'names' && own.isOutermost && /^name 10\d\d\d$/.test(own.field))
    const flood = { a: 1, metadata: { b: 1, inner: namesOf(tooMany) }, c: { d: 1 } }
    const inner = excessOf(JSON.stringify(flood))
    assert.deepEqual(inner, { of: 'names', field: 'metadata', isOutermost: false })
    assert.deepEqual(excessOf(JSON.stringify(flood, undefined, 2).replaceAll('":', '" \n\t:')), inner)
    assert.deepEqual(excessOf(JSON.stringify([namesOf(tooMany)])), { of: 'names', field: '', isOutermost: false })
  })

  it('is not JSON that repeats names, nor strings that look like them', () => {
    const item = { type: 'a:"b":', text: '{"x":1}', '\\"': 'y' }
    assert.equal(excessOf(JSON.stringify(Array.from({ length: tooMany }, () => item))), undefined)
    assert.equal(excessOf(JSON.stringify(Array.from({ length: tooMany }, (_, index) => `"${index}":1`))), undefined)
    assert.equal(excessOf(JSON.stringify({ text: JSON.stringify(namesOf(tooMany)) })), undefined)
    assert.equal(excessOf(':'.repeat(tooMany)), undefined)
  })
})

describe('the text of JSON', () => {
  const long = 10_000
  const hasMore = (json: string) => hasMoreText(Buffer.from(json), long)
  const base64 = 'QUJD'.repeat(long)

  it('is what is not a file', () => {
    for (const file of [base64, `data:image/png;base64,${base64}`, `/9j/${base64}`, `+${base64}`, `0${base64}`]) {
      assert.equal(hasMore(JSON.stringify({ file })), false, file.slice(0, 9))
      assert.equal(hasMore(JSON.stringify({ file, text: 'x '.repeat(200).split(' ', long) })), false)
    }
    assert.equal(hasMore(JSON.stringify(Array.from({ length: 100 }, () => 'x'.repeat(200)))), true)
  })

  it('includes strings that can be JSON, such as the arguments of a call', () => {
    for (const input of [`{"a":${'['.repeat(long)}`, ` {"a":${'['.repeat(long)}`, `\n{${' '.repeat(long)}`]) {
      assert.equal(hasMore(JSON.stringify({ input })), true, input.slice(0, 9))
      assert.equal(hasMore(`{"input":"\\u007b${input.slice(-long)}"}`), true)
    }
    assert.equal(hasMore(JSON.stringify({ input: `{"a":"b",${'1,'.repeat(long)}` })), true)
  })
})
