import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { draws } from '../../../tests/support/draws.ts'
import { receiveResponse, responseItem } from '../../../tests/support/client-responses.ts'
import { listAt, parseObject } from '../../../tests/support/json.ts'
import { eventsOf, replyOf } from '../../../tests/support/scripted-reply.ts'
import { anyReplyParts, anyTranscript } from '../../../tests/support/transcripts.ts'
import type { Message, Part, Prompt, ReplyPart, TextPart, Tool } from '../../models/conversation.ts'
import { responsesRequest, responsesResponse } from './openai-response-schema.ts'
import { openAiResponses } from './openai-responses.ts'

const request = { model: 'fast' }
const question = { role: 'user', content: 'x' }

type Transcript = Pick<Prompt, 'messages' | 'tools' | 'toolChoice' | 'parallelCalls'>

/** A transcript as this API can express it: without marks for the cache and without failed results; texts in a row are one. */
function expressible({ messages, tools, ...rest }: Transcript): Transcript {
  return {
    messages: messages.map(plainMessage),
    ...(tools && { tools: tools.map(plainTool) }),
    ...rest,
  }
}

function plainTool({ name, description, parameters, field, strict }: Tool): Tool {
  return {
    name,
    ...(description !== undefined && { description }),
    parameters,
    field,
    ...(strict !== undefined && { strict }),
  }
}

function plainMessage({ role, text, parts }: Message): Message {
  if (parts === undefined) return { role, text }
  const plain = parts.map(plainPart).reduce<readonly Part[]>((kept, part) => {
    const before = kept.at(-1)
    if (part.kind !== 'text' || before?.kind !== 'text') return [...kept, part]
    return [...kept.slice(0, -1), { kind: 'text', text: `${before.text}\n${part.text}` }]
  }, [])
  const [only] = plain
  return plain.length === 1 && only?.kind === 'text' ? { role, text: only.text } : { role, parts: plain }
}

function plainPart(part: Part): Part {
  if (part.kind === 'text') return plainText(part)
  if (part.kind === 'call') return { kind: 'call', id: part.id, tool: part.tool, input: part.input }
  if (part.kind !== 'result') return part
  const content = part.content.flatMap((each) => (each.kind === 'text' ? [plainText(each)] : []))
  return { kind: 'result', callId: part.callId, content }
}

const plainText = ({ text }: TextPart): TextPart => ({ kind: 'text', text })

/** The items of a transcript, as OpenAI's API writes them. */
const itemsOf = ({ messages }: Transcript): readonly object[] =>
  messages.flatMap(({ role, text, parts }) =>
    parts === undefined ? [{ role, content: text }] : parts.map((part) => responseItem(role, part)),
  )

function bodyOf(transcript: Transcript): object {
  const { tools, toolChoice, parallelCalls } = transcript
  return {
    ...request,
    input: itemsOf(transcript),
    tools: tools?.map((tool) => {
      const { field: _, ...fields } = tool
      return { type: 'function', ...fields }
    }),
    tool_choice: typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.tool } : toolChoice,
    parallel_tool_calls: parallelCalls,
  }
}

/** The turn of a reply, once its output has been sent back. Its calls are answered. */
function sentBack(output: readonly unknown[], parts: readonly ReplyPart[]): Message | undefined {
  const results = parts.flatMap((part) =>
    part.kind === 'call' ? [{ type: 'function_call_output', call_id: part.id, output: '' }] : [],
  )
  const input = [question, ...output, ...results, question]
  return openAiResponses.read({ ...request, input }).request.prompt.messages[1]
}

/** As it is sent: without what is undefined. */
const copy = (output: readonly object[]) => listAt(parseObject(JSON.stringify({ output })), 'output')

/** What the deltas of each part add up to. */
const streamedText = (part: ReplyPart): string => (part.kind === 'call' ? part.input : part.text)

/** Fails unless a value is what the OpenAPI document describes. */
function describedBy(schema: TSchema): (value: unknown) => void {
  const compiled = Compile(schema)
  return (value) => assert.ok(compiled.Check(value), JSON.stringify([compiled.Errors(value), value]))
}
const assertRequest = describedBy(responsesRequest)
const assertResponse = describedBy(responsesResponse)

describe("for any transcript in OpenAI's form", () => {
  test('what is read is what was written', () => {
    fc.assert(
      fc.property(anyTranscript('parameters'), (transcript) => {
        const plain = expressible(transcript)
        const body: unknown = JSON.parse(JSON.stringify(bodyOf(plain)))
        assertRequest(body)
        assert.deepEqual(openAiResponses.read(body).request.prompt, plain)
      }),
      draws({ test: 60, endure: 5000 }),
    )
  })

  test('a reply that is sent back is the same turn, whole or streamed', async () => {
    const tools = [{ type: 'function', name: 'f' }]
    await fc.assert(
      fc.asyncProperty(anyReplyParts, fc.boolean(), fc.integer({ min: 1, max: 9 }), async (parts, withTools, size) => {
        const reply = replyOf(parts)
        const parsed = openAiResponses.read({ ...request, input: 'x', ...(withTools && { tools }) })
        const whole = parseObject(parsed.wholeBody(reply))
        assertResponse(whole)
        const { ended, deltas, final } = await receiveResponse(eventsOf(parsed, reply, size))
        const turn = { role: 'assistant', parts }
        assert.deepEqual(sentBack(listAt(whole, 'output'), parts), turn)
        assert.deepEqual(ended, whole['output'])
        assert.deepEqual(
          parts.map((_, index) => deltas[index] ?? ''),
          parts.map(streamedText),
        )
        assert.deepEqual([final.output_text, final.usage], [reply.text, whole['usage']])
        assert.deepEqual(sentBack(copy(final.output), parts), turn)
      }),
      draws({ test: 60, endure: 5000 }),
    )
  })
})
