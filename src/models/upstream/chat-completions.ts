import { isUtf8 } from 'node:buffer'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Prompt, RunLimits, StopReason } from '../model.ts'
import { unusable } from './failure.ts'
import type { UpstreamReply } from './usage.ts'

/** Finish reasons of the API and the stop reasons they map to. */
const stopReasons = {
  stop: 'complete',
  length: 'max_output_tokens',
  content_filter: 'content_filter',
} as const satisfies Record<string, StopReason>

export const FinishReason = Type.Union([Type.Literal('stop'), Type.Literal('length'), Type.Literal('content_filter')])
export const TextField = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Tokens = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })
export const UsageField = Type.Optional(
  Type.Union([
    Type.Object({ prompt_tokens: Type.Optional(Tokens), completion_tokens: Type.Optional(Tokens) }),
    Type.Null(),
  ]),
)
export const IndexField = Type.Optional(Type.Unknown())
/** Fields in which vLLM and SGLang name the stop sequence that ended the reply. */
export const stopFields = { stop_reason: Type.Optional(Type.Unknown()), matched_stop: Type.Optional(Type.Unknown()) }

/** The fields of a `POST /chat/completions` response that are used. Other fields are ignored. */
const completion = Compile(
  Type.Object({
    choices: Type.Array(
      Type.Object({
        index: IndexField,
        message: Type.Object({ content: TextField }),
        finish_reason: FinishReason,
        ...stopFields,
      }),
    ),
    usage: UsageField,
  }),
)

const refusal = Compile(Type.Object({ error: Type.Object({ code: Type.String({ pattern: '^[a-z][a-z_]{0,63}$' }) }) }))

/**
 * Writes the body of a request. It sends `max_tokens`, which every server accepts except for OpenAI's newest models. They
 * require `max_completion_tokens`, but many servers ignore that field, and an unlimited reply is the worse failure.
 */
export function writeRequest(model: string, prompt: Prompt, limits: RunLimits, stream: boolean): string {
  return JSON.stringify({
    model,
    messages: prompt.messages.map(({ role, text }) => ({ role, content: text })),
    max_tokens: limits.maxOutputTokens,
    temperature: limits.temperature ?? 0,
    top_p: limits.topP,
    seed: limits.seed,
    stop: limits.stop,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  })
}

/** Reads a whole reply. Throws Failure if it is not a chat completion. The Failure does not quote the body. */
export function readCompletion(body: Buffer, { stop }: RunLimits): UpstreamReply {
  if (!isUtf8(body)) throw unusable('not UTF-8')
  const reply = parse(body.toString())
  if (!completion.Check(reply)) throw unusable('not a chat completion')
  const choice = firstChoice(reply.choices)
  if (!choice) throw unusable('a chat completion without a choice')
  const { content } = choice.message
  // Only a content filter may remove the message.
  if (content === undefined && choice.finish_reason !== 'content_filter') throw unusable('a message without content')
  return {
    text: (content ?? '').toWellFormed(),
    stopReason: stopReasonOf(choice.finish_reason, choice, stop),
    inputTokens: reply.usage?.prompt_tokens,
    outputTokens: reply.usage?.completion_tokens,
  }
}

/** The error code in a body, if it is a plain word. The message is not read because it may quote keys and prompts. */
export function readErrorCode(body: string): string {
  try {
    const reply = parse(body)
    return refusal.Check(reply) ? reply.error.code : 'no code'
  } catch {
    return 'no code'
  }
}

/** The first choice. Some servers send further choices that were not requested. */
export function firstChoice<Choice extends { readonly index?: unknown }>(
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find(({ index }) => typeof index !== 'number' || index === 0)
}

export function stopReasonOf(
  reason: keyof typeof stopReasons,
  { stop_reason, matched_stop }: { stop_reason?: unknown; matched_stop?: unknown },
  stop: RunLimits['stop'] = [],
): StopReason {
  const bySequence = stop.some((text) => text === stop_reason || text === matched_stop)
  return reason === 'stop' && bySequence ? 'stop_sequence' : stopReasons[reason]
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The error of JSON.parse quotes the text.
    throw unusable('not JSON')
  }
}
