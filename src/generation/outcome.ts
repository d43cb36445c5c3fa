import type { Piece, StopReason, Usage } from '../models/model.ts'
import { Problem } from '../platform/problems.ts'

/** A run, whole: what was generated, why it ended and what it used. */
export interface Outcome {
  readonly text: string
  readonly stopReason: StopReason
  readonly usage: Usage
  /** Of a reply that broke off when part of it had been told: what its caller is told instead of an end. */
  readonly problem?: Problem
}

/** Texts that have come since the last ones, in order and none of them empty. */
export type Texts = readonly string[]

/** Who reads a run. */
export interface Reader {
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal
  /** Whether the caller is told each text as it comes. */
  readonly tells: boolean
}

/**
 * Reads a run to its end: yields its texts and returns the whole. What reached its caller is paid for, so a run that
 * breaks off after it has been told in part is an outcome; so is `cancelled` when the caller has gone. Any other run that
 * ends without saying how, or for a reason that is no reply, is a failure: Problem `upstream_failed`, or `unavailable`
 * when the model itself stopped.
 */
export async function* read(pieces: AsyncIterable<Piece>, reader: Reader): AsyncGenerator<Texts, Outcome, void> {
  const whole = createText()
  for await (const piece of pieces) {
    if (piece.kind === 'end') {
      const { stopReason, usage, problem } = piece
      return checked({ text: whole.text(), stopReason, usage, ...(problem && { problem }) }, reader)
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

function checked(outcome: Outcome, { signal, tells }: Reader): Outcome {
  if (outcome.stopReason === 'error' && tells && outcome.text !== '') {
    return { ...outcome, problem: afterPart(outcome.problem) }
  }
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
