import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { StopReason } from '../model.ts'
import { readErrorCode } from './chat-completions.ts'
import { connectionLost, Failure, refused, unusable } from './failure.ts'

/** Versions 3 and 4 of the interface nest the values that are plain in version 2. */
const Finish = {
  finishReason: Type.Union([
    Type.String(),
    Type.Object({ unified: Type.String(), raw: Type.Optional(Type.Union([Type.String(), Type.Undefined()])) }),
  ]),
  usage: Type.Object({ inputTokens: Type.Optional(Type.Unknown()), outputTokens: Type.Optional(Type.Unknown()) }),
}

const result = Compile(Type.Object({ content: Type.Array(Type.Object({ type: Type.String() })), ...Finish }))
const textPart = Compile(Type.Object({ type: Type.Literal('text'), text: Type.String() }))
const delta = Compile(Type.Object({ type: Type.Literal('text-delta'), delta: Type.String() }))
const thought = Compile(Type.Object({ type: Type.Literal('reasoning-delta') }))
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

export interface Finished {
  readonly stopReason: StopReason
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/** One part of a stream, reduced to what a reply needs. */
export type AiSdkPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought' | 'other' }
  | ({ readonly kind: 'finish' } & Finished)

/** Reads the result of `doGenerate`. Throws Failure if it is not a reply. */
export function readResult(value: unknown): Finished & { readonly text: string } {
  if (!result.Check(value)) throw unusable('not a result of a language model')
  const texts = value.content.map((part) => (textPart.Check(part) ? part.text : ''))
  return { ...readFinish(value), text: texts.join('').toWellFormed() }
}

/** Reads one part of a `doStream` stream. Throws Failure for an error part and for an unknown finish reason. */
export function readPart(value: unknown, origin: string): AiSdkPart {
  if (delta.Check(value)) return { kind: 'text', text: value.delta.toWellFormed() }
  if (thought.Check(value)) return { kind: 'thought' }
  if (finish.Check(value)) return { kind: 'finish', ...readFinish(value) }
  if (fault.Check(value)) throw failureOf(value.error, origin, undefined)
  return { kind: 'other' }
}

interface Finish {
  readonly finishReason: string | { readonly unified: string; readonly raw?: string | undefined }
  readonly usage: { readonly inputTokens?: unknown; readonly outputTokens?: unknown }
}

function readFinish({ finishReason, usage }: Finish): Finished {
  const { unified, raw } = typeof finishReason === 'string' ? { unified: finishReason, raw: undefined } : finishReason
  const stopReason = raw === 'stop_sequence' ? 'stop_sequence' : stopReasons.get(unified)
  if (!stopReason) throw unusable('an unknown finish reason', unified === 'error')
  return { stopReason, inputTokens: countOf(usage.inputTokens), outputTokens: countOf(usage.outputTokens) }
}

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ['stop', 'complete'],
  ['length', 'max_output_tokens'],
  ['content-filter', 'content_filter'],
])

/** Reads a count: a number, or an object `{ total }`. 0 is a count; anything else is undefined. */
function countOf(value: unknown): number | undefined {
  const count: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'total') : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined
}

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
