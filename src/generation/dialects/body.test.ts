import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { withoutNeutral } from './body.ts'
import { openAiChat } from './openai-chat.ts'
import { readEmbeddingsRequest } from './openai-embeddings.ts'
import { openAiResponses } from './openai-responses.ts'

const messages = [{ role: 'user', content: 'Hello' }]
/** How each dialect reads a body, and a body that it accepts. */
const dialects: readonly (readonly [string, (body: object) => unknown, object])[] = [
  ['chat completions', (body) => openAiChat.read(body), { model: 'fast', messages }],
  ['responses', (body) => openAiResponses.read(body), { model: 'fast', input: 'Hello' }],
  ['messages', (body) => anthropicMessages.read(body), { model: 'fast', max_tokens: 5, messages }],
  ['embeddings', readEmbeddingsRequest, { model: 'fast', input: 'Hello' }],
]

const many = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`other${index}`, value]))

const refusalOf = (code: string, field: string) => (problem: Problem) =>
  problem.code === code && problem.details.field === field

describe('a body with very many unknown fields', () => {
  for (const [name, read, valid] of dialects) {
    it(`is refused by the name of one, not for a field that it has: ${name}`, () => {
      for (const value of [1, null]) {
        const flood = many(3000, value)
        assert.throws(() => read({ ...valid, ...flood }), refusalOf('unknown_field', 'other0'))
        assert.throws(() => read({ ...flood, ...valid }), refusalOf('unknown_field', 'other0'))
      }
    })
  }

  it('is shortened, so that later checks take no longer for more', () => {
    const kept = withoutNeutral({ first: 1, ...many(50_000), last: 1 }, {})
    const names = Object.keys(kept ?? {})
    assert.equal(names.length, 2000)
    assert.deepEqual([names[0], names.at(-1)], ['first', 'last'])
  })

  it('keeps all of them up to a thousand, except those that ask for nothing', () => {
    const body = many(1000)
    assert.equal(withoutNeutral(body, {}), body)
    assert.deepEqual(withoutNeutral({ ...many(500, null), a: 1, hint: 2 }, { hint: 'any value' }), { a: 1 })
  })
})
