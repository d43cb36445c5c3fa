import type { StreamEnd, StreamPart, WholeReply } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import type { Texts, Truncation } from './truncation.ts'

/** A finished run: its text, its stop reason and its usage. */
export interface Outcome extends WholeReply {
  /** Of a stream that broke off after its first text: the error for its caller. */
  readonly problem?: Problem
}

/**
 * Reads a stream to its end: yields its texts, within the bounds of `truncation`, and returns the outcome. The caller has
 * received those texts, so a stream that breaks off after the first of them has an outcome, too. Throws Problem
 * `upstream_failed` for a stream without an end, and otherwise as `checkOutcome`. `stop` stops the model.
 */
export async function* readStream(
  parts: AsyncIterable<StreamPart>,
  truncation: Truncation,
  stop: AbortController,
): AsyncGenerator<Texts, Outcome, void> {
  const whole = createText()
  for await (const part of parts) {
    const texts = part.kind === 'end' ? truncation.rest() : truncation.take(part.texts)
    if (texts.length > 0) {
      whole.add(texts)
      yield texts
    }
    if (part.kind === 'end') return outcomeOf(whole.text(), part, truncation, stop.signal)
    if (truncation.reason !== undefined) stop.abort()
  }
  throw new Problem('upstream_failed', 'The model stopped unexpectedly. Nothing was charged. Send the request again.')
}

function outcomeOf(text: string, end: StreamEnd, { reason, tokens }: Truncation, signal: AbortSignal): Outcome {
  const { stopReason, usage, problem } = end
  if (reason !== undefined) {
    return { text, stopReason: reason, usage: { ...usage, outputTokens: tokens, source: 'estimated' } }
  }
  if (stopReason === 'error' && text !== '') return { text, stopReason, usage, problem: brokenOff(problem) }
  return checkOutcome({ text, stopReason, usage }, signal)
}

/** Deltas that are kept separately before they are joined. */
const mostPieces = 64

/** A growing text. Deltas are joined regularly: a word kept on its own takes ten times its bytes. */
function createText(): { add(texts: Texts): void; text(): string } {
  let joined = ''
  let pieces: string[] = []
  const text = (): string => joined + pieces.join('')
  return {
    add(texts) {
      for (const each of texts) pieces.push(each)
      if (pieces.length < mostPieces) return
      joined = text()
      pieces = []
    },
    text,
  }
}

/**
 * Returns an outcome that can be charged. A `cancelled` one can if `signal` has aborted. Throws Problem `upstream_failed`
 * for one that failed, and `unavailable` if the model itself stopped.
 */
export function checkOutcome(outcome: WholeReply, signal: AbortSignal): Outcome {
  if (outcome.stopReason === 'error') {
    throw new Problem('upstream_failed', 'The model failed. Nothing was charged. Send the request again.')
  }
  if (outcome.stopReason === 'cancelled' && !signal.aborted) {
    throw new Problem('unavailable', 'The model stopped. Nothing was charged. Send the request again.', {
      retryAfter: 1,
    })
  }
  return outcome
}

/** The model's own problem may say that nothing was charged, and when to retry a request that has no reply yet. */
function brokenOff(problem?: Problem): Problem {
  const reason = 'The reply broke off. The text received so far was charged. Send the request again for a new reply.'
  return new Problem(problem?.code ?? 'upstream_failed', reason, { cause: problem?.details.cause })
}
