import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isSafeLink, parseMarkdown, sourceOf, splitAtAddresses, type MarkdownNode } from './markdown.ts'

/** A text as its parts: `paragraph(text:a)`. */
function outline(text: string): string {
  const told = (node: MarkdownNode): string => {
    if (node.type === 'text') return `text:${node.value}`
    return `${node.type}(${'children' in node ? node.children.map(told).join(', ') : ''})`
  }
  return parseMarkdown(text).children.map(told).join(' ')
}

describe('Markdown of notes and letters', () => {
  test('has paragraphs, headings, lists, quotes, emphasis and links', () => {
    assert.equal(
      outline('# A\n\n*b* **c** [d](https://d.example)'),
      'heading(text:A) paragraph(emphasis(text:b), text: , strong(text:c), text: , link(text:d))',
    )
    assert.equal(outline('- a\n- b'), 'list(listItem(paragraph(text:a)), listItem(paragraph(text:b)))')
    assert.equal(outline('> a'), 'blockquote(paragraph(text:a))')
  })

  test('keeps line breaks and everything else that was typed', () => {
    for (const typed of [
      'Dear Ms Berg\nthank you',
      '<b>bold</b> <script>alert(1)</script>',
      '&amp; &#65;',
      '```\ncode\n``` and `code`',
      'Title\n=====',
      '----',
      '______',
      '[1]: https://example.com',
    ]) {
      assert.equal(outline(typed), `paragraph(text:${typed})`)
    }
    assert.equal(outline('a\n\n    b   c'), 'paragraph(text:a) paragraph(text:b   c)')
  })

  test('is not parsed where that would take long', () => {
    for (const typed of ['>'.repeat(200_000), '- '.repeat(100_000), '**a'.repeat(60_000), '['.repeat(200_000)]) {
      assert.equal(outline(typed), `paragraph(text:${typed})`)
    }
    const nested = Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n')
    assert.equal(outline(nested), `paragraph(text:${nested})`)
    assert.equal(parseMarkdown('A *word*.\n\n'.repeat(1000)).children.length, 1000)
  })

  test('has links to web pages and mail addresses only', () => {
    for (const target of ['https://a.example', 'HTTP://a.example', 'mailto:a@b.example']) assert.ok(isSafeLink(target))
    for (const target of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//a.example',
      '/clients',
      'https:x',
      ' https://a',
    ]) {
      assert.ok(!isSafeLink(target), target)
    }
  })

  test('has the web addresses in a text, without the punctuation after them', () => {
    assert.deepEqual(splitAtAddresses('See https://a.example/b?c=1, or (http://d.example).'), [
      'See ',
      'https://a.example/b?c=1',
      ', or (',
      'http://d.example',
      ').',
    ])
    assert.deepEqual(splitAtAddresses('xhttp://a.example javascript://b'), ['xhttp://a.example javascript://b'])
  })

  test('knows what was typed for each part', () => {
    const typed = 'a\n\n* b\n* c'
    assert.deepEqual(
      parseMarkdown(typed).children.map((node) => sourceOf(node, typed)),
      ['a', '* b\n* c'],
    )
  })
})
