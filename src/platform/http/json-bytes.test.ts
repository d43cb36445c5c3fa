import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isTooDeep } from './json-bytes.ts'

const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
const isDeep = (json: string) => isTooDeep(Buffer.from(json))

describe('JSON that is nested too deeply', () => {
  it('has more than 256 levels', () => {
    assert.equal(isDeep(nested(256)), false)
    assert.equal(isDeep(nested(258)), true)
    assert.equal(isDeep(`[${nested(256)}]`), true)
    assert.equal(isDeep('['.repeat(257)), true)
    assert.equal(isDeep('{"a":'.repeat(257)), true)
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
    fc.assert(fc.property(fc.json({ maxDepth: 20 }), (json) => assert.equal(isDeep(json), false)))
  })
})
