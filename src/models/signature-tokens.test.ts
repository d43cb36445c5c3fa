import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Part, Prompt } from './conversation.ts'
import { signatureBytes, signatureTokens } from './counted.ts'

const reasoning = (signature?: string, text = ''): Part => ({ kind: 'reasoning', text, signature })
const promptOf = (...parts: Part[]): Prompt => ({
  messages: [
    { role: 'user', text: 'Hello' },
    { role: 'assistant', parts },
  ],
})

test('a signature in base64 has the bytes that it encodes', () => {
  for (const length of [1, 2, 3, 100, 1001]) {
    // All bytes of one bits: these are the characters in which the two alphabets differ.
    for (const bytes of [Buffer.alloc(length, 'a'), Buffer.alloc(length, 0xff)]) {
      for (const text of [bytes.toString('base64'), bytes.toString('base64url')]) {
        assert.equal(signatureBytes(promptOf(reasoning(text))), length, text)
      }
    }
  }
})

test('any other signature has the bytes of its text', () => {
  for (const text of ['Grüß Gott', 'c2ln.c2ln', 'a b', 'ab=c', '====']) {
    assert.equal(signatureBytes(promptOf(reasoning(text))), Buffer.byteLength(text), text)
  }
})

test('all signatures count, redacted or not, and nothing else', () => {
  const signature = Buffer.alloc(300).toString('base64')
  const redacted: Part = { kind: 'reasoning', text: '', signature, redacted: true }
  const text: Part = { kind: 'text', text: 'Hello' }
  const { messages } = promptOf(reasoning(signature, 'Hm'), redacted, text, reasoning(), reasoning('', 'Hm'))
  assert.equal(signatureBytes({ messages: [...messages, ...messages] }), 1200)
  assert.equal(signatureBytes({ messages: [{ role: 'user', text: signature }] }), 0)
})

test('a token is expected for every 4 bytes, and held for every 2', () => {
  const signature = Buffer.alloc(1001).toString('base64')
  assert.deepEqual(signatureTokens(promptOf(reasoning(signature))), { expected: 251, most: 501 })
  assert.deepEqual(signatureTokens(promptOf()), { expected: 0, most: 0 })
})
