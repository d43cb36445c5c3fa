import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { snippetOf } from './snippets.ts'

const marked = (text: string) => text.replaceAll('[', '\u{e000}').replaceAll(']', '\u{e001}')

describe('a snippet', () => {
  const cases: [text: string, q: string, snippet: string][] = [
    ['The quartz <b>vein</b> runs.', 'quar', 'The [quartz] <b>vein</b> runs.'],
    ['The quartz vein runs.', 'VEI quartz', 'The [quartz] [vein] runs.'],
    ['Björn Öberg & Søn', 'oberg bjo', '[Björn] [Öberg] & Søn'],
    ['Bjo\u0308rn', 'björn', '[Bjo\u0308rn]'],
    ['one\n two\t three', 'two', 'one [two] three'],
    ['## Our **fee**\n- `quartz` 2 * 3', 'quar fee', 'Our [fee] [quartz] 2 * 3'],
    ['nothing of it', 'else', 'nothing of it'],
    ['', 'x', ''],
    ['a text', '', 'a text'],
    ['a text', '&!', 'a text'],
    ['INV-2024/17 is open', '2024', 'INV-[2024]/17 is open'],
  ]
  for (const [text, q, snippet] of cases) {
    test(`of ${JSON.stringify(text)} for ${JSON.stringify(q)}`, () => assert.equal(snippetOf(text, q), marked(snippet)))
  }

  test('is the part of a long text around the first match, cut between words', () => {
    const text = `${'lorem ipsum '.repeat(100)}needle ${'dolor sit '.repeat(100)}`
    const snippet = snippetOf(text, 'need')
    assert.match(snippet, /^…(?:lorem |ipsum )+\u{e000}needle\u{e001} (?:dolor |sit )+(?:dolor|sit)…$/u)
    assert.ok(snippet.length < 300)
    assert.ok(snippetOf('x'.repeat(1000), 'y').length < 300)
  })

  test('cannot be forged by text that contains the markers', () => {
    assert.equal(snippetOf('a \u{e000}fake\u{e001} find', 'find'), marked('a fake [find]'))
  })
})
