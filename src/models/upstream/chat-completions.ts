import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CallPart, ReplyPart, ThinkingPart } from '../conversation.ts'
import type { RunLimits, StopReason } from '../model.ts'
import { contentFields, readContent, TextField, type ChatContent } from './chat-content.ts'
import { countsOf, readChatUsage, UsageField } from './chat-usage.ts'
import { unusable } from './failure.ts'
import type { UpstreamReply } from './usage.ts'

/** Finish reasons of the API and the stop reasons they map to. */
const stopReasons = {
  stop: 'complete',
  length: 'max_output_tokens',
  content_filter: 'content_filter',
  tool_calls: 'complete',
  function_call: 'complete',
} as const satisfies Record<string, StopReason>

export const FinishReason = Type.Union([
  Type.Literal('stop'),
  Type.Literal('length'),
  Type.Literal('content_filter'),
  Type.Literal('tool_calls'),
  Type.Literal('function_call'),
])
export const IndexField = Type.Optional(Type.Unknown())
/** Fields in which vLLM and SGLang name the stop sequence that ended the reply. */
export const stopFields = { stop_reason: Type.Optional(Type.Unknown()), matched_stop: Type.Optional(Type.Unknown()) }

/** A JSON text; some servers send the object itself. */
export const ArgumentsField = Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Object({})]))

const Call = Type.Object({ id: TextField, function: Type.Object({ name: Type.String(), arguments: ArgumentsField }) })

/** The fields of a `POST /chat/completions` response that are used. Other fields are ignored. */
const completion = Compile(
  Type.Object({
    choices: Type.Array(
      Type.Object({
        index: IndexField,
        message: Type.Object({
          ...contentFields,
          tool_calls: Type.Optional(Type.Union([Type.Array(Call), Type.Null()])),
        }),
        finish_reason: FinishReason,
        ...stopFields,
      }),
    ),
    usage: UsageField,
  }),
)

const refusal = Compile(Type.Object({ error: Type.Object({ code: Type.String({ pattern: '^[a-z][a-z_]{0,63}$' }) }) }))

/** Reads a whole reply. Throws Failure if it is not a chat completion. The Failure does not quote the body. */
export function readCompletion(body: Buffer, { stop }: RunLimits): UpstreamReply {
  if (!isUtf8(body)) throw unusable('not UTF-8')
  const reply = parse(body.toString())
  if (!completion.Check(reply)) throw unusable('not a chat completion')
  const choice = firstChoice(reply.choices)
  if (!choice) throw unusable('a chat completion without a choice')
  const { message, finish_reason: reason } = choice
  const content = readContent(message)
  const parts = partsOf(content, message.tool_calls ?? [])
  // Only a content filter may remove the message.
  if (message.content === undefined && !parts && reason !== 'content_filter') {
    throw unusable('a message without content')
  }
  return {
    text: content.text.toWellFormed(),
    parts,
    stopReason: stopReasonOf(reason, choice, stop),
    counts: countsOf(readChatUsage(reply.usage)),
  }
}

/** The parts of a reply; undefined if it has only text. */
function partsOf(content: ChatContent, calls: readonly Static<typeof Call>[]): readonly ReplyPart[] | undefined {
  const { text, thinking, signatures } = content
  if (thinking === '' && !signatures && calls.length === 0) return undefined
  const thoughts = thoughtsOf(content)
  return [
    ...thoughts,
    ...(text === '' ? [] : [{ kind: 'text' as const, text: text.toWellFormed() }]),
    ...calls.map(readCall),
  ]
}

/** The thoughts of a reply: one, unless several are signed, each with its own text. Vendors refuse a signature of another text. */
function thoughtsOf({ thinking, signatures = [] }: ChatContent): readonly ThinkingPart[] {
  const signed = signatures.filter(({ redacted }) => !redacted)
  const kind = 'thinking'
  const hasTexts = signed.length > 0 && signed.every(({ text }) => text !== undefined)
  if (hasTexts && (thinking === '' || signed.some(({ text }) => text !== ''))) {
    return signatures.map(({ text = '', ...signature }) => ({ kind, text: text.toWellFormed(), ...signature }))
  }
  const [first] = signed
  const shown =
    thinking === '' && !first ? [] : [{ text: thinking.toWellFormed(), ...(first && { signature: first.signature }) }]
  const hidden = signatures.flatMap(({ signature, redacted }) => (redacted ? [{ text: '', signature, redacted }] : []))
  return [...shown, ...hidden].map((part) => ({ kind, ...part }))
}

function readCall({ id, function: { name, arguments: input } }: Static<typeof Call>): CallPart {
  return { kind: 'call', id: id || newCallId(), tool: name, input: argumentsText(input).toWellFormed() }
}

/** Arguments as JSON text. A call without arguments may have none, and so may a call that was cut off. Throws Failure for an object that is too deep to be written. */
export function argumentsText(input: string | object | null | undefined): string {
  if (typeof input !== 'object' || input === null) return input ?? ''
  try {
    return JSON.stringify(input)
  } catch {
    throw unusable('arguments with too many levels')
  }
}

/** For a server that gives a call no id: its result must name one. */
export const newCallId = (): string => `call_${randomBytes(12).toString('hex')}`

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
