import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charactersWithoutFont } from '../pdf/pdf-text.ts'
import { commonCharacters } from '../writing-thread.ts'

test('the fonts have the characters for which none is opened', () => {
  const common = Array.from({ length: 0x2100 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    commonCharacters.test(character),
  )
  assert.ok(common.length > 300)
  assert.deepEqual(charactersWithoutFont(common), [])
})
