import type { StreamPart, WholeReply } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'

/** A finished run: its text, its stop reason and its usage. */
export interface Outcome extends WholeReply {
  /** Of a stream that broke off after its first text: the error for its caller. */
  readonly problem?: Problem
}

/** Consecutive deltas, none of them empty. */
export type Texts = readonly string[]

/**
 * Reads a stream to its end: yields its texts and returns the outcome. The caller has received those texts, so a stream
 * that breaks off after the first of them has an outcome, too. Throws Problem `upstream_failed` for a stream without an
 * end, and otherwise as `checkOutcome`. `signal` stops the model.
 */
export async function* readStream(
  parts: AsyncIterable<StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<Texts, Outcome, void> {
  const whole = createText()
  for await (const part of parts) {
    if (part.kind === 'end') {
      const { stopReason, usage, problem } = part
      const outcome = { text: whole.text(), stopReason, usage }
      if (stopReason !== 'error' || outcome.text === '') return checkOutcome(outcome, signal)
      return { ...outcome, problem: brokenOff(problem) }
    }
    whole.add(part.texts)
    yield part.texts
  }
  throw new Problem('upstream_failed', 'The model stopped unexpectedly. Nothing was charged. Send the request again.')
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
