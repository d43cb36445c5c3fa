import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { readInput } from './tool-fields.ts'

const refused = { code: 'invalid_field', message: /JSON: an object of at most 128 levels/ }
const nested = (levels: number, filling = '') => `${'{"a":'.repeat(levels - 1)}{${filling}}${'}'.repeat(levels - 1)}`
const filling = `"b":"${'[x'.repeat(10_000)}"`

describe('the arguments of a call as text', () => {
  it('are an object of at most 128 levels, however long', () => {
    for (const text of ['{}', ' \n{"a":[1]}', nested(128), nested(128, filling)]) {
      assert.equal(readInput(text, 'arguments'), text)
    }
    assert.equal(readInput('', 'arguments'), '{}')
    for (const text of [
      nested(129),
      nested(129, filling),
      `${nested(9, filling)}}`,
      '[]',
      '"{}"',
      'null',
      '{',
      ' ',
      5,
    ]) {
      assert.throws(() => readInput(text, 'arguments'), refused)
    }
  })

  it('are not parsed if that would take long', () => {
    const parse = mock.method(JSON, 'parse')
    const names = Array.from({ length: 20_000 }, (_, index) => `"${index}":1`).join()
    for (const text of ['['.repeat(100_000), `{"a":${'['.repeat(100_000)}`, `{${names}}`, `1${'0'.repeat(100_000)}`]) {
      assert.throws(() => readInput(text, 'arguments'), refused)
    }
    assert.equal(parse.mock.callCount(), 0)
    parse.mock.restore()
  })
})
