import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { finalMessage } from '../../../tests/support/client-messages.ts'
import { parseObject } from '../../../tests/support/json.ts'
import { eventsOf, replyOf } from '../../../tests/support/scripted-reply.ts'
import { anyReplyParts, anyTranscript } from '../../../tests/support/transcripts.ts'
import type { Message, Prompt, ReplyPart } from '../../models/conversation.ts'
import { anthropicPrompt } from '../../models/tokenizer/anthropic-prompt.ts'
import { anthropicMessages } from './anthropic-messages.ts'

const request = { model: 'fast', max_tokens: 100_000 }

/** What else a prompt can have in this API. */
const anyRest: fc.Arbitrary<Pick<Prompt, 'reasoning' | 'format'>> = fc.record(
  {
    reasoning: fc.oneof(
      fc.constant({ effort: 'none' } as const),
      fc.record(
        {
          budgetTokens: fc.integer({ min: 1024, max: 4096 }),
          effort: fc.constantFrom('low', 'high', 'max'),
          summary: fc.constant('auto'),
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
    ),
    format: fc.constant({
      kind: 'schema',
      name: 'reply',
      schema: { type: 'object' },
      field: 'output_config.format.schema',
    } as const),
  },
  { requiredKeys: [], noNullPrototype: true },
)

/** The turn of a reply, once its content has been sent back. Its calls are answered. */
function sentBack(content: unknown, parts: readonly ReplyPart[]): Message | undefined {
  const results = parts.flatMap((part) => (part.kind === 'call' ? [{ type: 'tool_result', tool_use_id: part.id }] : []))
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content },
    { role: 'user', content: [...results, { type: 'text', text: 'Go on.' }] },
  ]
  return anthropicMessages.read({ ...request, messages }).request.prompt.messages[1]
}

describe("for any transcript in Anthropic's form", () => {
  test('what is read is what was written', () => {
    fc.assert(
      fc.property(anyTranscript('input_schema'), anyRest, (transcript, rest) => {
        const prompt = { ...transcript, ...rest }
        const body: unknown = JSON.parse(JSON.stringify({ ...request, ...anthropicPrompt(prompt) }))
        assert.deepEqual(anthropicMessages.read(body).request.prompt, prompt)
      }),
      draws({ test: 60, endure: 5000 }),
    )
  })

  test('a reply that is sent back is the same turn, whole or streamed', async () => {
    await fc.assert(
      fc.asyncProperty(anyReplyParts, fc.integer({ min: 1, max: 9 }), async (parts, size) => {
        const reply = replyOf(parts)
        const parsed = anthropicMessages.read({ ...request, messages: [{ role: 'user', content: 'x' }] })
        const whole = parseObject(parsed.wholeBody(reply))
        const streamed = parseObject(JSON.stringify(await finalMessage(eventsOf(parsed, reply, size))))
        assert.deepEqual(sentBack(whole['content'], parts), { role: 'assistant', parts })
        for (const field of ['content', 'stop_reason', 'usage']) assert.deepEqual(streamed[field], whole[field])
        const calls = parts.some(({ kind }) => kind === 'call')
        assert.equal(whole['stop_reason'], calls ? 'tool_use' : 'end_turn')
      }),
      draws({ test: 60, endure: 5000 }),
    )
  })
})
