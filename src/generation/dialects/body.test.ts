import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Problem } from '../../platform/problems.ts'
import { anthropicMessages } from './anthropic/anthropic-messages.ts'
import { withoutNeutral } from './body.ts'
import { openAiChat } from './openai-chat/openai-chat.ts'
import { readEmbeddingsRequest } from './embeddings/openai-embeddings.ts'
import { openAiResponses } from './openai-responses/openai-responses.ts'

const messages = [{ role: 'user', content: 'Hello' }]
/** How each dialect reads a body, and a body that it accepts. */
const dialects: readonly (readonly [string, (body: object) => unknown, object])[] = [
  ['chat completions', (body) => openAiChat.read(body), { model: 'fast', messages }],
  ['responses', (body) => openAiResponses.read(body), { model: 'fast', input: 'Hello' }],
  ['messages', (body) => anthropicMessages.read(body), { model: 'fast', max_tokens: 5, messages }],
  ['embeddings', readEmbeddingsRequest, { model: 'fast', input: 'Hello' }],
]

const refusalOf = (code: string, field: string) => (problem: Problem) =>
  problem.code === code && problem.details.field === field

const many = (count: number, nameOf: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [nameOf(index), 1]))

describe('a body with very many unknown fields', () => {
  for (const [name, read, valid] of dialects) {
    it(`is refused by the name of the first, not for a field that it has: ${name}`, () => {
      const others = many(3000, (index) => `other${index}`)
      assert.throws(() => read({ ...valid, ...others }), refusalOf('unknown_field', 'other0'))
      assert.throws(() => read({ ...others, ...valid }), refusalOf('unknown_field', 'other0'))
      // Objects list names that are numbers first.
      const numbers = many(3000, String)
      assert.throws(() => read({ ...numbers, ...valid, ...others }), refusalOf('unknown_field', '0'))
    })
  }

  it('keeps them, except those that have no effect', () => {
    const body = many(3000, String)
    assert.equal(withoutNeutral(body, {}), body)
    assert.deepEqual(withoutNeutral({ ...body, a: null, hint: 2 }, { hint: 'any value' }), body)
  })
})
