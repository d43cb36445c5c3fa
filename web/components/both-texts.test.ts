import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../tests/support/draws.ts'
import { bothTexts } from './both-texts.ts'

test('paragraphs that differ follow each other, theirs first, and those in common stand once', () => {
  assert.equal(
    bothTexts('Dear A,\n\nPay by Friday.\n\nBye', 'Dear A,\n\nNever pay.\n\nBye'),
    'Dear A,\n\nPay by Friday.\n\nNever pay.\n\nBye',
  )
  assert.equal(bothTexts('One.', 'Two.'), 'One.\n\nTwo.')
  assert.equal(bothTexts('One.\n\nTheirs.', 'Mine.\n\nOne.'), 'Mine.\n\nOne.\n\nTheirs.')
})

test('lines that differ within a paragraph or a list stay in it', () => {
  assert.equal(bothTexts('Met.\nTheirs.', 'Met.\nMine.'), 'Met.\nTheirs.\nMine.')
  assert.equal(bothTexts('So:\n\n- a\n- b', 'So:\n\n- a\n- c\n\nEnd'), 'So:\n\n- a\n- b\n- c\n\nEnd')
})

const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

test('every line of both texts is there, and a text with itself is unchanged', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'b', 'fee', '\n', '\n\n', ' ', '- c'), { maxLength: 30 })
    .map((all) => all.join(''))
  fc.assert(
    fc.property(texts, texts, (theirs, mine) => {
      const all = new Set(lines(bothTexts(theirs, mine)))
      for (const line of [...lines(theirs), ...lines(mine)]) assert.ok(all.has(line), line)
      assert.deepEqual(lines(bothTexts(mine, mine)), lines(mine))
    }),
    draws({ test: 50, endure: 1000 }),
  )
})
