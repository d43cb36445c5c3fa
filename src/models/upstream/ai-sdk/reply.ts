import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ReplyPart } from '../../conversation.ts'
import type { StopReason } from '../../model.ts'
import { readPackageUsage, type AiSdkUsage } from './usage.ts'
import { newCallId, readErrorCode } from '../chat/chat-completions.ts'
import type { Signature } from '../chat/chat-content.ts'
import type { CallFragment } from '../chat/chat-deltas.ts'
import { connectionLost, Failure, refused, unusable } from '../failure.ts'
import { at } from '../../../platform/text/json.ts'
import { stopReasonFor, type FinishedRun } from '../chat/finish-reasons.ts'
import type { ReportedCounts, UpstreamReply } from '../usage.ts'

/** Versions 3 and 4 of the interface nest the values that are plain in version 2. */
const Finish = {
  finishReason: Type.Union([
    Type.String(),
    Type.Object({ unified: Type.String(), raw: Type.Optional(Type.Union([Type.String(), Type.Undefined()])) }),
  ]),
  usage: Type.Object({
    inputTokens: Type.Optional(Type.Unknown()),
    outputTokens: Type.Optional(Type.Unknown()),
    cachedInputTokens: Type.Optional(Type.Unknown()),
    reasoningTokens: Type.Optional(Type.Unknown()),
    raw: Type.Optional(Type.Unknown()),
  }),
  providerMetadata: Type.Optional(Type.Unknown()),
}
const Executed = Type.Optional(Type.Unknown())
const ToolCall = Type.Object({
  type: Type.Literal('tool-call'),
  toolCallId: Type.String(),
  toolName: Type.String({ minLength: 1 }),
  input: Type.String(),
  providerExecuted: Executed,
})

const Warnings = { warnings: Type.Optional(Type.Unknown()) }
const result = Compile(
  Type.Object({ content: Type.Array(Type.Object({ type: Type.String() })), ...Finish, ...Warnings }),
)
const streamStart = Compile(Type.Object({ type: Type.Literal('stream-start'), ...Warnings }))
const textPart = Compile(Type.Object({ type: Type.Literal('text'), text: Type.String() }))
const reasoningPart = Compile(
  Type.Object({
    type: Type.Literal('reasoning'),
    text: Type.String(),
    providerMetadata: Type.Optional(Type.Unknown()),
  }),
)
const toolCall = Compile(ToolCall)
/** A search that the vendor ran. Opening a page that it found is none. */
const searched = Compile(
  Type.Object({ type: Type.Literal('tool-result'), toolName: Type.Literal('web_search'), result: Type.Unknown() }),
)
const delta = Compile(Type.Object({ type: Type.Literal('text-delta'), delta: Type.String() }))
/** The signature is on the first part if it is redacted, otherwise on any later part. */
const streamedReasoning = Compile(
  Type.Object({
    type: Type.Enum(['reasoning-start', 'reasoning-delta', 'reasoning-end']),
    delta: Type.Optional(Type.String()),
    providerMetadata: Type.Optional(Type.Unknown()),
  }),
)
const inputStart = Compile(
  Type.Object({
    type: Type.Literal('tool-input-start'),
    id: Type.String(),
    toolName: Type.String({ minLength: 1 }),
    providerExecuted: Executed,
  }),
)
const inputDelta = Compile(
  Type.Object({ type: Type.Literal('tool-input-delta'), id: Type.String(), delta: Type.String() }),
)
const finish = Compile(Type.Object({ type: Type.Literal('finish'), ...Finish }))
const fault = Compile(Type.Object({ type: Type.Literal('error'), error: Type.Unknown() }))

/** An `APICallError`, recognized by its shape: each package may have its own copy of the class. */
const callError = Compile(
  Type.Object({
    isRetryable: Type.Boolean(),
    statusCode: Type.Optional(Type.Union([Type.Integer(), Type.Undefined()])),
    responseHeaders: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Undefined()])),
    responseBody: Type.Optional(Type.Union([Type.String(), Type.Undefined()])),
  }),
)

export interface FinishedCall {
  readonly stopReason: StopReason
  readonly counts: ReportedCounts
}

/** One part of a stream, reduced to what a reply needs. */
export type AiSdkPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'reasoning'
      readonly begins: boolean
      readonly text: string
      readonly signature: Signature | undefined
    }
  | { readonly kind: 'input'; readonly fragment: CallFragment }
  /** A call from its beginning to its end. Its pieces may have come before. */
  | { readonly kind: 'call'; readonly fragment: CallFragment }
  | { readonly kind: 'search' }
  | { readonly kind: 'other' }
  | { readonly kind: 'finish'; readonly finished: FinishedCall }

/** Reads the result of `doGenerate`. Throws Failure if it is not a reply. */
export function readResult(value: unknown, run: FinishedRun): UpstreamReply {
  if (!result.Check(value)) throw unusable('not a result of a language model')
  noteLeftOut(value.warnings, run)
  const hasContent = value.content.length > 0
  const finished = withSearches(readFinish(value, run, hasContent), value.content.filter(isSearch).length)
  const parts = withoutInventedInput(joinReasoning(value.content.flatMap(readContentPart)), finished)
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const hasOthers = parts.some(({ kind }) => kind !== 'text')
  return { ...finished, text, parts: hasOthers ? parts : undefined }
}

function isSearch(part: unknown): boolean {
  if (!searched.Check(part)) return false
  const action = at(part.result, 'action', 'type')
  return action === undefined || action === 'search'
}

/** Anthropic counts them in its usage; OpenAI's are counted one by one. */
export function withSearches(finished: FinishedCall, searches: number): FinishedCall {
  const { terms } = finished.counts
  if (searches === 0 || terms?.tools) return finished
  return { ...finished, counts: { ...finished.counts, terms: { ...terms, tools: { web_search: searches } } } }
}

function readContentPart(part: object): readonly ReplyPart[] {
  if (textPart.Check(part)) return part.text === '' ? [] : [{ kind: 'text', text: part.text.toWellFormed() }]
  if (reasoningPart.Check(part)) {
    const signature = signatureIn(part.providerMetadata)
    if (part.text === '' && !signature) return []
    return [{ kind: 'reasoning', text: part.text.toWellFormed(), ...signature }]
  }
  if (!toolCall.Check(part) || part.providerExecuted) return []
  const { toolCallId, toolName, input } = part
  return [{ kind: 'call', id: toolCallId || newCallId(), tool: toolName, input: input.toWellFormed() }]
}

/** Vendors and packages write `{}` for the input of a call that was cut off before it. */
function withoutInventedInput(parts: readonly ReplyPart[], { stopReason }: FinishedCall): readonly ReplyPart[] {
  const last = stopReason === 'complete' ? undefined : parts.findLast(({ kind }) => kind === 'call')
  return parts.map((part) =>
    part === last && part.kind === 'call' && part.input === '{}' ? { ...part, input: '' } : part,
  )
}

/** The parts of one summary have the same signature: together they are one part of reasoning. */
function joinReasoning(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  return parts.reduce<readonly ReplyPart[]>((joined, part) => {
    const last = joined.at(-1)
    const isSame = part.kind === 'reasoning' && last?.kind === 'reasoning' && last.signature === part.signature
    if (!isSame || part.signature === undefined) return [...joined, part]
    return [...joined.slice(0, -1), { ...last, text: last.text + reasoningBreak + part.text }]
  }, [])
}

/** Between the parts of one summary. */
export const reasoningBreak = '\n\n'

/**
 * Reads one part of a `doStream` stream. Throws Failure for an error part, and for an end without a finish reason unless it is that
 * of a stream with content (`hasContent`) whose last event came.
 */
export function readPart(value: unknown, origin: string, run: FinishedRun, hasContent = false): AiSdkPart {
  if (delta.Check(value)) return { kind: 'text', text: value.delta.toWellFormed() }
  if (streamedReasoning.Check(value)) {
    const begins = value.type === 'reasoning-start'
    const signature = signatureIn(value.providerMetadata)
    // What OpenAI sends at the beginning of reasoning is not yet its signature.
    const isEarly = begins && !signature?.redacted
    return {
      kind: 'reasoning',
      begins,
      text: (value.delta ?? '').toWellFormed(),
      signature: isEarly ? undefined : signature,
    }
  }
  if (inputDelta.Check(value)) return { kind: 'input', fragment: fragmentOf(value.id, '', value.delta) }
  if (inputStart.Check(value)) {
    return value.providerExecuted ? other : { kind: 'input', fragment: fragmentOf(value.id, value.toolName, '') }
  }
  if (toolCall.Check(value)) {
    const { toolCallId, toolName, input, providerExecuted } = value
    return providerExecuted ? other : { kind: 'call', fragment: fragmentOf(toolCallId, toolName, input) }
  }
  if (finish.Check(value)) {
    const isWhole = hasContent && typeof value.finishReason === 'object' && value.finishReason.raw === ''
    return { kind: 'finish', finished: readFinish(value, run, isWhole) }
  }
  if (isSearch(value)) return { kind: 'search' }
  if (fault.Check(value)) throw failureOf(value.error, origin, undefined)
  if (streamStart.Check(value)) noteLeftOut(value.warnings, run)
  return other
}

/** Fields whose absence changes the reply: stop strings are kept by Tollgate itself, and a seed only as far as a model supports it. */
const sampling: ReadonlySet<unknown> = new Set(['temperature', 'topP'])

/** Notes in the log what the package says it has left out of the request. Version 2 of the interface has another name for it. */
function noteLeftOut(warnings: unknown, { log, limits }: FinishedRun): void {
  const named = (Array.isArray(warnings) ? warnings : []).map(
    (warning: unknown) => at(warning, 'feature') ?? at(warning, 'setting'),
  )
  const fields = named.filter((name) => sampling.has(name))
  if (fields.length > 0)
    log.warn({ request_id: limits.requestId, fields }, 'the package left out fields of the request')
}

const other: AiSdkPart = { kind: 'other' }

const fragmentOf = (id: string, tool: string, json: string): CallFragment => ({ index: undefined, id, tool, json })

/** Each package has its metadata under its own name. */
function signatureIn(metadata: unknown): Signature | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined
  for (const options of Object.values(metadata)) {
    const data = at(options, 'redactedData')
    if (typeof data === 'string' && data !== '') return { signature: data, redacted: true }
    const signature = at(options, 'signature') ?? at(options, 'reasoningEncryptedContent')
    if (typeof signature === 'string' && signature !== '') return { signature }
  }
  return undefined
}

interface Finish {
  readonly finishReason: string | { readonly unified: string; readonly raw?: string | undefined }
  readonly usage: AiSdkUsage
  readonly providerMetadata?: unknown
}

/** `isWhole`: a reply without a finish reason is complete. A stream without one was cut off, which packages report as an end of its own. */
function readFinish(
  { finishReason, usage, providerMetadata }: Finish,
  run: FinishedRun,
  isWhole: boolean,
): FinishedCall {
  const { unified, raw } =
    typeof finishReason === 'string' ? { unified: finishReason, raw: plainReasons.get(finishReason) } : finishReason
  const known = raw === 'stop_sequence' ? raw : stopReasons.get(unified)
  if (!known && !raw && !isWhole) throw unusable('an end without a finish reason', unified === 'error')
  return { stopReason: known ?? stopReasonFor(raw ?? '', run), counts: readPackageUsage(usage, providerMetadata) }
}

/** Version 2 of the interface has no raw reason: `other` stands for any that the package does not know. */
const plainReasons: ReadonlyMap<string, string> = new Map([['other', 'other']])

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['stop', 'complete'],
  ['tool-calls', 'complete'],
  ['length', 'max_output_tokens'],
  ['content-filter', 'content_filter'],
])

export interface Sizes {
  readonly maxOutputTokens: number
  readonly context: number
}

/**
 * Classifies an error of a provider package. Keeps only the status and an error code that is a plain word. The message and
 * the body may quote the request, so they reach neither the caller nor the log.
 */
export function failureOf(error: unknown, origin: string, sizes: Sizes | undefined): Failure {
  if (error instanceof Failure) return error
  if (!callError.Check(error)) {
    // undici throws a TypeError if the connection breaks during a response.
    if (error instanceof TypeError) return connectionLost(new Error(`${origin}: the connection broke`), true)
    return unusable(error instanceof Error ? error.name : 'an error without a name', !(error instanceof Error))
  }
  const { statusCode: status, responseBody: body = '', responseHeaders: headers = {} } = error
  if (status === undefined) return connectionLost(new Error(`${origin}: no answer`), true)
  if (status >= 200 && status < 300) return unusable('not an answer of this kind')
  const retryAfter = headers['retry-after']
  const refusal = { status, retryAfter, body, origin, code: readErrorCode(body) }
  return refused(refusal, sizes ?? { maxOutputTokens: 0, context: 0 })
}
