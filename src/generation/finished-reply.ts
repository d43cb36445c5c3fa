import type { Delta, ReplyPart } from '../models/conversation.ts'
import type { ReplyCallIds } from '../models/call-ids.ts'
import type { StreamEnd, StreamPart, Vector, WholeReply } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { createReplyContent, type ReplyContent } from './content.ts'
import { isCallInput } from './dialects/tools.ts'
import type { Texts, Truncation } from './truncation.ts'

/** A reply that a model has finished and that is not charged yet: its text, its stop reason and its usage. */
export interface FinishedReply extends WholeReply {
  /** The error for the caller of a stream that broke off after its first text. */
  readonly problem?: Problem
  /** Embeddings instead of a text: one for each text. */
  readonly vectors?: readonly Vector[] | undefined
}

/** What a stream yields: texts, or pieces of anything else. */
export type StreamedPiece =
  | { readonly kind: 'texts'; readonly texts: Texts }
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[] }

interface ReadingNeeds {
  readonly truncation: Truncation
  readonly callIds: ReplyCallIds
  /** Stops the model. */
  readonly stop: AbortController
}

/**
 * Reads a stream to its end: yields its parts within `truncation`, and returns the finished reply. The caller has already received
 * those parts, so a stream that breaks off has a finished reply, too. Throws Problem
 * `upstream_failed` for a stream without an end, and otherwise as `checkFinished`.
 */
export async function* readStream(
  parts: AsyncIterable<StreamPart>,
  { truncation, callIds, stop }: ReadingNeeds,
): AsyncGenerator<StreamedPiece, FinishedReply, void> {
  const content = createReplyContent()
  const gate = createCallGate()
  for await (const part of parts) {
    const texts = part.kind === 'texts' ? truncation.take(part.texts) : truncation.rest()
    const isComplete = part.kind === 'end' && part.stopReason === 'complete' && truncation.reason === undefined
    const calls = texts.length > 0 || isComplete ? gate.rest() : []
    if (calls.length > 0) {
      content.addDeltas(calls)
      yield { kind: 'deltas', deltas: calls }
    }
    if (texts.length > 0) {
      content.addTexts(texts)
      yield { kind: 'texts', texts }
    }
    if (part.kind === 'end') return finishedOf(content, part, truncation, stop.signal)
    if (part.kind === 'deltas') {
      const deltas = gate.take(truncation.takeDeltas(callIds.inDeltas(part.deltas)))
      content.addDeltas(deltas)
      if (deltas.length > 0) yield { kind: 'deltas', deltas }
    }
    if (truncation.reason !== undefined) stop.abort()
  }
  throw new Problem('upstream_failed', 'The model stopped unexpectedly. Nothing was charged. Send the request again.')
}

function finishedOf(
  content: ReplyContent,
  end: StreamEnd,
  { reason, tokens }: Truncation,
  signal: AbortSignal,
): FinishedReply {
  const { stopReason, usage, problem } = end
  const parts = content.parts()
  const whole = { text: content.text(), ...(parts && { parts }) }
  if (reason !== undefined) {
    return withWholeCalls({
      ...whole,
      stopReason: reason,
      usage: { ...usage, outputTokens: tokens, source: 'estimated' },
    })
  }
  const isEmpty = whole.text === '' && parts === undefined
  if (stopReason === 'error' && !isEmpty) return { ...whole, stopReason, usage, problem: brokenOff(problem) }
  const finished = { ...whole, stopReason, usage }
  // The caller has received the call, so what was received is charged.
  if (hasBrokenCall(finished)) return { ...finished, stopReason: 'error', problem: brokenOff(brokenCall()) }
  return checkFinished(finished, signal)
}

/**
 * Returns a finished reply that can be charged. A `cancelled` one can if `signal` has aborted. Throws Problem `upstream_failed`
 * for one that failed or has a call that cannot be run, and `unavailable` if the model itself stopped.
 */
export function checkFinished(reply: WholeReply, signal: AbortSignal): FinishedReply {
  const finished = withInputs(reply)
  if (finished.stopReason === 'error') {
    throw new Problem('upstream_failed', 'The model failed. Nothing was charged. Send the request again.')
  }
  if (finished.stopReason === 'cancelled' && !signal.aborted) {
    throw new Problem('unavailable', 'The model stopped. Nothing was charged. Send the request again.', {
      retryAfter: 1,
    })
  }
  if (hasBrokenCall(finished)) throw brokenCall()
  return withWholeCalls(finished)
}

/**
 * A model may write nothing for a call without arguments. The last call of a reply that was cut off stays without them: it may have
 * been cut off just after the name of its tool.
 */
function withInputs<Reply extends WholeReply>(reply: Reply): Reply {
  const { parts, stopReason } = reply
  if (!parts?.some(isWithoutInput)) return reply
  const last = stopReason === 'complete' ? undefined : parts.findLast(({ kind }) => kind === 'call')
  return {
    ...reply,
    parts: parts.map((part) => (isWithoutInput(part) && part !== last ? { ...part, input: '{}' } : part)),
  }
}

const isWithoutInput = (part: ReplyPart): boolean => part.kind === 'call' && part.input === ''

const hasBrokenCall = ({ stopReason, parts }: WholeReply): boolean =>
  stopReason === 'complete' && parts !== undefined && !parts.every(isWhole)

/** A reply that was cut off may end within a call, which then cannot be run. */
function withWholeCalls<Reply extends WholeReply>(reply: Reply): Reply {
  return reply.parts === undefined || reply.parts.every(isWhole)
    ? reply
    : { ...reply, parts: reply.parts.filter(isWhole) }
}

function isWhole(part: ReplyPart): boolean {
  if (part.kind !== 'call') return true
  try {
    return isCallInput(JSON.parse(part.input))
  } catch {
    return false
  }
}

const brokenCall = (): Problem =>
  new Problem(
    'upstream_failed',
    'The model called a tool with arguments that are not a JSON object. Nothing was charged. Send the request again.',
  )

/** The model's own problem may say that nothing was charged, and when to retry a request that has no reply yet. */
function brokenOff(problem?: Problem): Problem {
  const reason =
    'The reply was interrupted. The text received so far was charged. Send the request again for a new reply.'
  return new Problem(problem?.code ?? 'upstream_failed', reason, { cause: problem?.details.cause })
}

/** Decides which pieces of a stream's calls its caller may receive. */
interface CallGate {
  /** What may be passed on, once these have arrived. */
  take(deltas: readonly Delta[]): readonly Delta[]
  /** What was kept back, for when something else follows or the reply is complete. */
  rest(): readonly Delta[]
}

/**
 * Keeps the beginning of a call back until its arguments begin. Clients take a call without arguments for a whole one and run its
 * tool, whatever the reply's stop reason is, but a model that is cut off after a tool's name has not finished its call.
 */
function createCallGate(): CallGate {
  let begun: readonly Delta[] = []
  return {
    take(deltas) {
      if (begun.length === 0 && deltas.at(-1)?.kind !== 'call') return deltas
      const all = [...begun, ...deltas]
      const end = all.at(-1)?.kind === 'call' ? -1 : all.length
      begun = all.slice(end)
      return all.slice(0, end)
    },
    rest() {
      const rest = begun
      begun = []
      return rest
    },
  }
}
