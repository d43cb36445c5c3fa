import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import { bytesOfTokens, isBadPair, isNeverUtf8, narrowFirsts } from './token-bytes.ts'

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')

test("a token has the bytes that GPT-2's notation or SentencePiece's stands for", () => {
  const symbols = bytesOfTokens({ tokenizer: 'gpt2', texts: ['ĠĊÃ©Ńğ!', 'ðŁĺ', '<|im_end|>', '日'] })
  assert.deepEqual(symbols.map(hex), ['200ac3a9ad1f21', 'f09f98', hex(Buffer.from('<|im_end|>')), 'e697a5'])
  const pieces = bytesOfTokens({ tokenizer: 'llama', texts: ['▁a', '<0xE6>', '<0xE6>x', 'é'] })
  assert.deepEqual(pieces.map(hex), ['e2968161', 'e6', hex(Buffer.from('<0xE6>x')), 'c3a9'])
})

test('a second byte that no UTF-8 has after the first one is found', () => {
  for (let first = 0xc2; first <= 0xf4; first += 1) {
    const rest = first < 0xe0 ? [] : first < 0xf0 ? [0x80] : [0x80, 0x80]
    let bad = 0
    for (let second = 0x80; second <= 0xbf; second += 1) {
      const isRight = isUtf8(Uint8Array.of(first, second, ...rest))
      assert.equal(isBadPair(first, second), !isRight, `${first} ${second}`)
      assert.equal(isNeverUtf8(Uint8Array.of(0x61, first, second)), !isRight)
      if (!isRight) bad += 1
    }
    assert.equal(narrowFirsts.includes(first), bad > 0)
  }
})

test('a part of a character can be UTF-8, and bytes that no character has cannot', () => {
  for (const bytes of [[0xe6], [0xa5, 0x61], [0xf0, 0x9f], [0x61, 0xe0]])
    assert.ok(!isNeverUtf8(Uint8Array.from(bytes)))
  for (const byte of [0xc0, 0xc1, 0xf5, 0xff]) assert.ok(isNeverUtf8(Uint8Array.of(0x61, byte, 0x80)))
})
