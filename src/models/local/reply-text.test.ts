import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReplyText, type ToText } from './reply-text.ts'

/** A tokenizer whose tokens are runs of bytes, which can split characters. */
const detokenize: ToText<Uint8Array> = (tokens) => Buffer.concat(tokens).toString('utf8')

const bytesOf = (text: string, length = 1): Uint8Array[] => {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  )
}

function reply(tokens: readonly Uint8Array[], stop: readonly string[] = []) {
  const text = createReplyText(detokenize, stop)
  const pieces: string[] = []
  let used = 0
  for (const token of tokens) {
    used += 1
    const added = text.add(token)
    pieces.push(added.text)
    if (added.stopped) return { pieces, whole: pieces.join(''), stopped: true, used }
  }
  pieces.push(text.rest())
  return { pieces, whole: pieces.join(''), stopped: false, used }
}

void test('a character split over tokens is sent only when complete', () => {
  const text = 'Zoë, 漢字 and 😀👩‍👩‍👧 ok'
  for (const length of [1, 2, 3, 5]) {
    const { pieces, whole } = reply(bytesOf(text, length))
    assert.equal(whole, text)
    for (const piece of pieces) assert.ok(piece.isWellFormed() && !piece.includes('\uFFFD'), JSON.stringify(piece))
  }
})

void test('each character is sent as soon as it is complete', () => {
  assert.deepEqual(reply(bytesOf('aé漢😀')).pieces, ['a', '', 'é', '', '', '漢', '', '', '', '😀', ''])
})

void test('an incomplete character is omitted', () => {
  assert.equal(reply(bytesOf('ab😀').slice(0, -1)).whole, 'ab')
})

void test('invalid UTF-8 does not stop the text after it', () => {
  const noise = Array.from({ length: 60 }, () => Uint8Array.of(0xff))
  const { pieces, whole } = reply([...bytesOf('before '), ...noise, ...bytesOf(' after')])
  assert.match(whole, /^before \uFFFD+ after$/)
  assert.ok(
    pieces.slice(0, 60).some((piece) => piece.includes('\uFFFD')),
    'not everything is held until the end',
  )
})

void test('a stop string ends the text before it, however it is split into tokens', () => {
  for (const length of [1, 2, 3, 4, 7, 100]) {
    const { whole, stopped } = reply(bytesOf('one\n\nHuman: two', length), ['Human:', '\n\nHuman'])
    assert.deepEqual({ whole, stopped }, { whole: 'one', stopped: true })
  }
})

void test('of several stop strings, the first in the text counts', () => {
  assert.equal(reply(bytesOf('a END b STOP', 20), ['STOP', 'END']).whole, 'a ')
})

void test('a possible part of a stop string is held back', () => {
  const { pieces, whole } = reply(bytesOf('a STOOL'), ['STOP'])
  assert.equal(whole, 'a STOOL')
  assert.deepEqual(pieces.slice(0, 7), ['a', ' ', '', '', '', 'STOO', 'L'])
})

void test('a partial stop string at the end is text', () => {
  const { whole, stopped } = reply(bytesOf('the ST'), ['STOP'])
  assert.deepEqual({ whole, stopped }, { whole: 'the ST', stopped: false })
})

void test('a stop string can have characters that are split over tokens', () => {
  const { whole, stopped, used } = reply(bytesOf('go 😀 on'), ['😀'])
  assert.deepEqual({ whole, stopped, used }, { whole: 'go ', stopped: true, used: 7 })
})

void test('an empty stop string has no effect', () => {
  assert.equal(reply(bytesOf('text'), ['']).whole, 'text')
})
