import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TokenLogprob } from '../models/conversation.ts'
import { createLogprobQueue, logprobsOfTexts, logprobsWithin } from './logprobs.ts'

const scoreOf = (token: string, bytes: readonly number[] | null = null): TokenLogprob => ({
  token,
  logprob: -1,
  bytes,
  top: [],
})
const tokensOf = (logprobs: readonly TokenLogprob[]) => logprobs.map(({ token }) => token)
const scoresOf = (...tokens: readonly string[]) => tokens.map((token) => scoreOf(token))

const kept = (text: string) =>
  tokensOf(logprobsWithin(text, 'one two three', scoresOf('one', ' two', ' three', '<end>')))

describe('the log probabilities of a text', () => {
  it('are passed on with the first piece of their token', () => {
    const queue = createLogprobQueue()
    queue.add('Grüß', scoresOf('Gr', 'üß'))
    assert.deepEqual(tokensOf(queue.take('Gr')), ['Gr'])
    queue.add(' Gott', scoresOf(' Gott'))
    assert.deepEqual(tokensOf(queue.take('ü')), ['üß'])
    assert.deepEqual(tokensOf(queue.take('ß')), [])
    assert.deepEqual(tokensOf(queue.take(' Gott')), [' Gott'])
    assert.deepEqual(tokensOf(queue.taken ?? []), ['Gr', 'üß', ' Gott'])
  })

  it('of tokens that are parts of a character come with that character', () => {
    const queue = createLogprobQueue()
    queue.add('a', scoresOf('a'))
    queue.add('', [scoreOf(String.raw`\xc3`, [0xc3])])
    assert.deepEqual(tokensOf(queue.take('a')), ['a'])
    queue.add('ß', [scoreOf(String.raw`\x9f`, [0x9f])])
    assert.deepEqual(tokensOf(queue.take('ß')), [String.raw`\xc3`, String.raw`\x9f`])
  })

  it('that are not exactly its tokens stay with the piece in which they came', () => {
    const queue = createLogprobQueue()
    queue.add('Hello', scoresOf('<start>', '▁Hello', '<end>'))
    queue.add(' you', scoresOf('▁you'))
    assert.deepEqual(tokensOf(queue.take('Hell')), ['<start>'])
    assert.deepEqual(tokensOf(queue.take('o')), ['▁Hello', '<end>'])
    assert.deepEqual(tokensOf(queue.take(' you')), ['▁you'])
  })

  it('end where it is cut off, with the token that is cut', () => {
    assert.deepEqual(kept('one tw'), ['one', ' two'])
    assert.deepEqual(kept('one two'), ['one', ' two'])
    assert.deepEqual(kept(''), [])
  })

  it('are divided among several texts, with what follows the last at its end', () => {
    const divided = logprobsOfTexts(['one', ' two'], scoresOf('o', 'ne', ' two', '<end>'))
    assert.deepEqual(divided.map(tokensOf), [
      ['o', 'ne'],
      [' two', '<end>'],
    ])
  })

  it('are undefined if none have arrived, and empty if all were cut off', () => {
    const queue = createLogprobQueue()
    queue.add('Hello', [])
    assert.deepEqual([queue.take('Hello'), queue.rest(), queue.taken], [[], [], undefined])
    queue.add('x', scoresOf('x'))
    assert.deepEqual(queue.taken, [])
  })
})
