import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CallPart, ReplyPart, ReasoningPart } from '../../conversation.ts'
import type { ReplyChoice, StopReason } from '../../model.ts'
import { contentFields, readContent, type ChatContent } from './chat-content.ts'
import { readLogprobs } from './chat-logprobs.ts'
import { countsOf, readUsageOf, UsageField } from './chat-usage.ts'
import { isJsonObject } from '../../../platform/text/json.ts'
import { choicesMissing, unusable } from '../failure.ts'
import { stopReasonFor, type FinishedRun } from './finish-reasons.ts'
import type { UpstreamReply } from '../usage.ts'

export const IndexField = Type.Optional(Type.Unknown())
/** Fields in which vLLM and SGLang name the stop sequence that ended the reply. */
export const stopFields = { stop_reason: Type.Optional(Type.Unknown()), matched_stop: Type.Optional(Type.Unknown()) }

/** A JSON text; some servers send the object itself. */
export const ArgumentsField = Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Object({})]))

/** Some servers number the calls. */
export const CallIdField = Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()]))

const Call = Type.Object({ id: CallIdField, function: Type.Object({ name: Type.String(), arguments: ArgumentsField }) })

const Choice = Type.Object({
  index: IndexField,
  message: Type.Object({
    ...contentFields,
    tool_calls: Type.Optional(Type.Union([Type.Array(Call), Type.Null()])),
  }),
  finish_reason: Type.Optional(Type.Unknown()),
  logprobs: Type.Optional(Type.Unknown()),
  usage: UsageField,
  ...stopFields,
})

/** The fields of a `POST /chat/completions` response that are used. Other fields are ignored. */
const completion = Compile(
  Type.Object({
    choices: Type.Array(Choice),
    usage: UsageField,
    x_groq: UsageField,
    service_tier: UsageField,
  }),
)

const refusal = Compile(Type.Object({ error: Type.Object({ code: Type.String({ pattern: '^[a-z][a-z_]{0,63}$' }) }) }))

/** Reads a whole reply. Throws Failure if it is not a chat completion. The Failure does not quote the body. */
export function readCompletion(body: Buffer, run: FinishedRun): UpstreamReply {
  if (!isUtf8(body)) throw unusable('not UTF-8')
  const reply = parse(body.toString())
  if (!completion.Check(reply)) throw unusable('not a chat completion')
  const choice = firstChoice(reply.choices)
  if (!choice) throw unusable('a chat completion without a choice')
  const first = readChoice(choice, run)
  const { choices = 1 } = run.limits
  if (choices === 1) return { ...first, counts: countsOf(readUsageOf(reply, choice)) }
  const others = Array.from({ length: choices - 1 }, (_, index) => choiceAt(reply.choices, index + 1))
  // The usage in a choice may be that of this choice only.
  return {
    ...first,
    others: others.map((each) => readChoice(each, run)),
    counts: countsOf(readUsageOf(reply, undefined)),
  }
}

/** Throws Failure if the server did not send it. */
function choiceAt(choices: readonly Static<typeof Choice>[], at: number): Static<typeof Choice> {
  const found = choices.find(({ index }) => index === at)
  if (!found) throw choicesMissing()
  return found
}

function readChoice(choice: Static<typeof Choice>, run: FinishedRun): ReplyChoice {
  const { message, finish_reason: reason } = choice
  const content = readContent(message)
  const parts = partsOf(content, message.tool_calls ?? [])
  const isEmpty = content.text === '' && !parts
  if (isEmpty && reason === 'error') throw unusable('an error instead of a reply', true)
  const stopReason = stopReasonOf(reason, choice, run) ?? stopReasonFor('', run)
  // Only a content filter may remove the message.
  if (message.content === undefined && !parts && stopReason !== 'content_filter') {
    throw unusable('a message without content')
  }
  return {
    text: content.text.toWellFormed(),
    parts,
    logprobs: readLogprobs(choice.logprobs, run.limits),
    stopReason,
  }
}

/** The parts of a reply; undefined if it has only text. */
function partsOf(content: ChatContent, calls: readonly Static<typeof Call>[]): readonly ReplyPart[] | undefined {
  const { text, reasoning, signatures } = content
  if (reasoning === '' && !signatures && calls.length === 0) return undefined
  const reasoningParts = reasoningOf(content)
  return [
    ...reasoningParts,
    ...(text === '' ? [] : [{ kind: 'text' as const, text: text.toWellFormed() }]),
    ...calls.map(readCall),
  ]
}

/** The reasoning of a reply: one, unless several are signed, each with its own text. Vendors refuse a signature of another text. */
function reasoningOf({ reasoning, signatures = [] }: ChatContent): readonly ReasoningPart[] {
  const signed = signatures.filter(({ redacted }) => !redacted)
  const kind = 'reasoning'
  const hasTexts = signed.length > 0 && signed.every(({ text }) => text !== undefined)
  if (hasTexts && (reasoning === '' || signed.some(({ text }) => text !== ''))) {
    return signatures.map(({ text = '', ...signature }) => ({ kind, text: text.toWellFormed(), ...signature }))
  }
  const [first] = signed
  const shown =
    reasoning === '' && !first ? [] : [{ text: reasoning.toWellFormed(), ...(first && { signature: first.signature }) }]
  const hidden = signatures.flatMap(({ signature, redacted }) => (redacted ? [{ text: '', signature, redacted }] : []))
  return [...shown, ...hidden].map((part) => ({ kind, ...part }))
}

function readCall({ id, function: { name, arguments: input } }: Static<typeof Call>): CallPart {
  return { kind: 'call', id: callIdOf(id) || newCallId(), tool: name, input: argumentsText(input).toWellFormed() }
}

/** Empty if the server sends none. */
export const callIdOf = (id: string | number | null | undefined): string =>
  id === undefined || id === null ? '' : String(id)

/** The index of a call, which some servers send as text. */
export function callIndexOf(value: unknown): number | undefined {
  const index = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof index === 'number' && Number.isSafeInteger(index) ? index : undefined
}

/** Some servers send a stream event of nothing to keep a connection open. */
export const isNothing = (event: unknown): boolean => event === null || (Array.isArray(event) && event.length === 0)

/** Some servers send an object for no choices, or nothing among them. Anything else is left as it is. */
export function listedChoices(choices: unknown): unknown {
  if (Array.isArray(choices)) return choices.filter((choice) => choice !== null)
  return isJsonObject(choices) ? [] : choices
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

/** Undefined if the reply has not ended yet. */
export function stopReasonOf(
  reason: unknown,
  { stop_reason, matched_stop }: { stop_reason?: unknown; matched_stop?: unknown },
  run: FinishedRun,
): StopReason | undefined {
  if (reason === undefined || reason === null || reason === '') return undefined
  const bySequence = run.limits.stop?.some((text) => text === stop_reason || text === matched_stop)
  return reason === 'stop' && bySequence
    ? 'stop_sequence'
    : stopReasonFor(typeof reason === 'string' ? reason : '?', run)
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The error of JSON.parse quotes the text.
    throw unusable('not JSON')
  }
}
