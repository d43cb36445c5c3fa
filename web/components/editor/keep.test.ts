import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { documentOf, type EditorNode } from './document.ts'
import { keyOf } from './document-key.ts'
import { createKeeper, isFaithful } from './keep.ts'

const words = fc.stringMatching(/^[a-z*_[\]()<>#+\-.!\\`&:/0-9 ]{1,12}$/)
const marks = fc.subarray([
  { type: 'bold' },
  { type: 'italic' },
  { type: 'link', attrs: { href: 'https://a.example/b' } },
])
const plain = words.map((text): EditorNode => ({ type: 'text', text }))
const inline = fc.array(fc.oneof(plain, fc.constant({ type: 'hardBreak' })), { minLength: 1, maxLength: 5 })
const formatted = fc
  .array(fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), marks), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.flatMap(([text, own]): EditorNode[] => [
      { type: 'text', text, marks: own },
      { type: 'text', text: ' and ' },
    ]),
  )
const paragraph = fc.oneof(inline, formatted).map((content): EditorNode => ({ type: 'paragraph', content }))
const heading = fc
  .tuple(words, fc.integer({ min: 1, max: 6 }))
  .map(([text, level]): EditorNode => ({ type: 'heading', attrs: { level }, content: [{ type: 'text', text }] }))
const item = fc
  .array(paragraph, { minLength: 1, maxLength: 2 })
  .map((content): EditorNode => ({ type: 'listItem', content }))
const list = fc
  .tuple(fc.constantFrom('bulletList', 'orderedList'), fc.array(item, { minLength: 1, maxLength: 3 }))
  .map(([type, content]): EditorNode => ({ type, ...(type === 'orderedList' && { attrs: { start: 1 } }), content }))
const quote = fc
  .array(paragraph, { minLength: 1, maxLength: 2 })
  .map((content): EditorNode => ({ type: 'blockquote', content }))
const documents = fc
  .array(fc.oneof(paragraph, heading, list, quote), { minLength: 1, maxLength: 5 })
  .map((content): EditorNode => ({ type: 'doc', content }))

const typed = `Dear Ms Berg\nthank you for *your* letter.

* first
* second


1) one
2) two

> quoted
`

const textOf = (document: EditorNode, before: string) => createKeeper(before)(document)

/** The Markdown of a paragraph without formatting. */
const of = (text: string) =>
  textOf({ type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text }] }] }, '')

describe('the Markdown of an edited letter', () => {
  test('means the same document, whatever its characters', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const text = textOf(document, '')
        assert.equal(keyOf(documentOf(text)), keyOf(document), text)
      }),
      draws({ test: 100, endure: 1000 }),
    )
  })

  test('is the text itself, to the byte, if nothing was edited', () => {
    for (const text of [typed, '', '\n\na\n\n\n', 'a  \nb', '- a\n\n\n- b', '#x\n\n1986. Yes', 'a*b_c [d] \\*']) {
      assert.equal(textOf(documentOf(text), text), text)
    }
  })

  test('changes only the edited block', () => {
    const document = documentOf(typed)
    const keep = createKeeper(typed)
    assert.equal(keep(document), typed)
    document.content?.splice(1, 0, { type: 'paragraph', content: [{ type: 'text', text: 'New.' }] })
    assert.equal(keep(document), typed.replace('\n\n* first', '\n\nNew.\n\n* first'))
    document.content?.splice(2, 1)
    assert.equal(keep(document), typed.replace('* first\n* second\n\n\n', 'New.\n\n'))
  })

  test('escapes only what would otherwise be formatting', () => {
    for (const text of ['2 * 3', 'snake_case_name', '[client]', 'a < b', '#1', '5.50']) assert.equal(of(text), text)
    assert.equal(of('*not emphasis*'), '\\*not emphasis\\*')
    assert.equal(of('- no list'), '\\- no list')
    assert.equal(of('1. no list'), '1\\. no list')
    assert.equal(of('# no heading'), '\\# no heading')
  })
})

test('a text whose indentation the editor would drop is not faithful', () => {
  for (const text of [typed, '', 'a\nb', '- a\n  - b', '\\*a\\* [b]']) assert.ok(isFaithful(text), text)
  for (const text of ['a\n    b', '    a', '>'.repeat(100)]) assert.ok(!isFaithful(text), text)
})
