import { Type } from 'typebox'
import { responsesExample } from '../examples.ts'
import type { Reply } from '../generation.ts'
import { createdAt, event, jsonAround, type ErrorDetails, type EventWriter } from './dialect.ts'
import { openAiErrorOf } from './openai-errors.ts'

const text = Type.Object({
  type: Type.Literal('output_text'),
  text: Type.String(),
  annotations: Type.Array(Type.Unknown(), { maxItems: 0 }),
  logprobs: Type.Array(Type.Unknown(), { maxItems: 0 }),
})

export const responsesResponse = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: Type.Integer(),
    status: Type.Enum(['completed', 'incomplete']),
    incomplete_details: Type.Union([
      Type.Object({ reason: Type.Enum(['max_output_tokens', 'content_filter']) }),
      Type.Null(),
    ]),
    model: Type.String(),
    output: Type.Array(
      Type.Object({
        id: Type.String(),
        type: Type.Literal('message'),
        role: Type.Literal('assistant'),
        status: Type.Enum(['completed', 'incomplete']),
        content: Type.Array(text),
      }),
    ),
    usage: Type.Object({
      input_tokens: Type.Integer(),
      output_tokens: Type.Integer(),
      total_tokens: Type.Integer(),
    }),
  },
  { examples: [responsesExample.response] },
)

/** The fields of a request that its response repeats. */
export interface RepeatedFields {
  readonly instructions?: string
  readonly max_output_tokens?: number
  readonly metadata?: object
  readonly temperature?: number
  readonly top_p?: number
  readonly user?: string
}

interface ResponseIds {
  readonly id: string
  readonly model: string
}

/** The response object. Without a reply, its state while the reply is generated. */
export function responseObject(body: RepeatedFields, { id, model }: ResponseIds, reply?: Reply): object {
  const reason = reply && cutOff(reply)
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt(id),
    status: reply ? statusOf(reply) : 'in_progress',
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: reply ? [message(id, statusOf(reply), [textPart(reply.text)])] : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: null,
    service_tier: 'default',
    store: false,
    temperature: body.temperature ?? 0,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    ...(reply && { usage: usageOf(reply) }),
    ...(body.user !== undefined && { user: body.user }),
  }
}

function cutOff({ stopReason }: Reply): string | undefined {
  return stopReason === 'max_output_tokens' || stopReason === 'content_filter' ? stopReason : undefined
}

const statusOf = (reply: Reply) => (cutOff(reply) === undefined ? 'completed' : 'incomplete')

const message = (id: string, status: string, content: readonly object[]) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status,
  content,
})

const textPart = (whole: string) => ({ type: 'output_text', text: whole, annotations: [], logprobs: [] })

function usageOf({ usage: { inputTokens, outputTokens } }: Reply): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  }
}

const textDelta = 'response.output_text.delta'

/** The events of a response, numbered, in the order of OpenAI's API. */
export function responseEvents(body: RepeatedFields, { id, model }: ResponseIds): EventWriter {
  let sent = 0
  const writeEvent = (type: string, fields: object) => event(type, { type, sequence_number: sent++, ...fields })
  const item = { item_id: `msg_${id}`, output_index: 0 }
  const content = { ...item, content_index: 0 }
  const response = responseObject(body, { id, model })
  const rest = jsonAround((delta) => ({ ...content, delta, logprobs: [] }))
  return {
    opening: [
      writeEvent('response.created', { response }),
      writeEvent('response.in_progress', { response }),
      writeEvent('response.output_item.added', { output_index: 0, item: message(id, 'in_progress', []) }),
      writeEvent('response.content_part.added', { ...content, part: textPart('') }),
    ],
    text: (delta) => event(textDelta, `{"type":"${textDelta}","sequence_number":${sent++},${rest(delta).slice(1)}`),
    deltas: () => [],
    closing(reply) {
      const status = statusOf(reply)
      const part = textPart(reply.text)
      return [
        writeEvent('response.output_text.done', { ...content, text: reply.text, logprobs: [] }),
        writeEvent('response.content_part.done', { ...content, part }),
        writeEvent('response.output_item.done', { output_index: 0, item: message(id, status, [part]) }),
        writeEvent(`response.${status}`, { response: responseObject(body, reply, reply) }),
      ]
    },
    failure: (details: ErrorDetails, status) => failure(writeEvent, details, status),
  }
}

/** The API documents the fields at the top level; its clients look for them under `error`. */
function failure(writeEvent: (type: string, fields: object) => string, details: ErrorDetails, status: number): string {
  const error = openAiErrorOf(details, status)
  const { code, message: reason, param } = error
  return writeEvent('error', { code, message: reason, param, error })
}
