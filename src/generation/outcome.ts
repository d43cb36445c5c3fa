import type { StreamPart, WholeReply } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'

/** A run, whole: what was generated, why it ended and what it used. */
export interface Outcome extends WholeReply {
  /** Of a reply that broke off when part of it had been told: what its caller is told instead of an end. */
  readonly problem?: Problem
}

/** Texts that have come since the last ones, in order and none of them empty. */
export type Texts = readonly string[]

/**
 * Reads a stream to its end: yields its texts and returns the whole. What reached its caller is paid for, so a stream
 * that breaks off after its first text is an outcome. One that ends without saying how is Problem `upstream_failed`; else
 * its end is checked as that of any run. `signal` aborts when the caller goes away.
 */
export async function* read(
  pieces: AsyncIterable<StreamPart>,
  signal: AbortSignal,
): AsyncGenerator<Texts, Outcome, void> {
  const whole = createText()
  for await (const piece of pieces) {
    if (piece.kind === 'end') {
      const { stopReason, usage, problem } = piece
      const outcome = { text: whole.text(), stopReason, usage }
      if (stopReason !== 'error' || outcome.text === '') return checked(outcome, signal)
      return { ...outcome, problem: afterPart(problem) }
    }
    whole.add(piece.texts)
    yield piece.texts
  }
  throw new Problem('upstream_failed', 'The model broke off in the middle. Nothing was charged; send it again.')
}

/** Pieces of a text that are kept apart. */
const mostPieces = 64

/** A text that grows. Its pieces are joined now and then: a word that is kept alone takes ten times its bytes. */
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
 * A run that is a reply; so is `cancelled` when the caller has gone. Throws for any other reason to end: Problem
 * `upstream_failed`, or `unavailable` when the model itself stopped.
 */
export function checked(outcome: WholeReply, signal: AbortSignal): Outcome {
  if (outcome.stopReason === 'error') {
    throw new Problem('upstream_failed', 'The model failed while generating. Nothing was charged; send it again.')
  }
  if (outcome.stopReason === 'cancelled' && !signal.aborted) {
    throw new Problem('unavailable', 'The model stopped. Nothing was charged; send it again.', { retryAfter: 1 })
  }
  return outcome
}

function afterPart(
  { code, details }: Pick<Problem, 'code' | 'details'> = { code: 'upstream_failed', details: {} },
): Problem {
  const reason = 'The model broke off in the middle. What it had sent by then is charged. Send the request again.'
  return new Problem(code, reason, { cause: details.cause })
}
