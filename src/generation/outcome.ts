import type { Piece, StopReason, Usage } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'

/** A run, whole: what was generated, why it ended and what it used. */
export interface Outcome {
  readonly text: string
  readonly stopReason: StopReason
  readonly usage: Usage
}

/**
 * Reads a run to its end: yields its texts and returns the whole. A run that ends without saying how, or for a reason
 * that is no reply, is a failure: Problem `upstream_failed`, or `unavailable` when the model itself stopped. `cancelled`
 * is an outcome only after the caller has gone.
 */
export async function* read(pieces: AsyncIterable<Piece>, signal: AbortSignal): AsyncGenerator<string, Outcome, void> {
  let text = ''
  for await (const piece of pieces) {
    if (piece.kind === 'end') return checked({ text, stopReason: piece.stopReason, usage: piece.usage }, signal)
    if (piece.text === '') continue
    text += piece.text
    yield piece.text
  }
  throw new Problem('upstream_failed', 'The model broke off in the middle. Nothing was charged; send it again.')
}

function checked(outcome: Outcome, signal: AbortSignal): Outcome {
  if (outcome.stopReason === 'error') {
    throw new Problem('upstream_failed', 'The model failed while generating. Nothing was charged; send it again.')
  }
  if (outcome.stopReason === 'cancelled' && !signal.aborted) {
    throw new Problem('unavailable', 'The model stopped. Nothing was charged; send it again.', { retryAfter: 1 })
  }
  return outcome
}
