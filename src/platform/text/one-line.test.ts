import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hiddenIn, isBlank, quoted } from './one-line.ts'

test('invisible characters are found and named', () => {
  for (const [text, found] of [
    ['a\nb', 'a line break'],
    ['a\u2028b', 'a line break'],
    ['a\tb', 'a tab'],
    ['\u202e evil', 'the character U+202E, which is invisible'],
    ['a\u2067b', 'the character U+2067, which is invisible'],
    ['a\u200bb', 'the character U+200B, which is invisible'],
    ['\ufeffa', 'the character U+FEFF, which is invisible'],
    ['\u009b31m', 'the character U+009B, which is invisible'],
  ] as const) {
    assert.equal(hiddenIn(text), found)
  }
})

test('names in any language contain none', () => {
  for (const name of [
    'Łukasz Ó Néill',
    '株式会社 山田',
    'שלום בע״מ',
    'شرکت می\u200cخواهم',
    'क\u094d\u200dष',
    '👩\u200d🔧 Co',
  ]) {
    assert.deepEqual([hiddenIn(name), isBlank(name)], [undefined, false], name)
  }
  for (const blank of ['', '   ', '\u00a0', '\u3000', '\u200c', '\u3164', '\u115f\u1160', '\uffa0', '\u2800'])
    assert.ok(isBlank(blank), JSON.stringify(blank))
})

test('quoted text shows every character', () => {
  assert.equal(quoted('a"b'), '"a\\"b"')
  assert.equal(quoted('\u009b31m\u202ex\n'), '"\\u{009b}31m\\u{202e}x\\n"')
})
