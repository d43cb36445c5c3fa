import type { Logger } from 'pino'
import type { Prompt, RunEnd, RunLimits, StopReason, Usage, WholeReply } from '../model.ts'

/** What is asked of an upstream. */
export interface Asked {
  readonly prompt: Prompt
  readonly limits: RunLimits
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Tokens that a chat template adds to a message, and to the prompt as a whole (some bring a system text of their own). */
const templateTokens = { message: 16, prompt: 128 }

/** Bytes of one token where nobody counted: about what English takes. */
const bytesPerToken = 4

/** A piece of a stream that is longer than this, on average, is more than one token. */
const mostBytesOfToken = 16

const bytesOf = ({ messages }: Prompt): number => messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)

const estimate = (bytes: number): number => Math.ceil(bytes / bytesPerToken)

/** No tokenizer that falls back on bytes makes more tokens than the text has bytes. */
export const mostTokens = (prompt: Prompt): number =>
  bytesOf(prompt) + prompt.messages.length * templateTokens.message + templateTokens.prompt

/** What came of a run, and what the upstream said it was; a number that it did not say is undefined, and 0 is a number. */
export interface Received {
  /** Pieces that a stream came in; undefined for a reply in one piece. */
  readonly pieces: number | undefined
  readonly bytes: number
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/**
 * The usage of a reply: what the upstream reports, else our own estimate: a token for each piece of a stream, for each 4
 * bytes otherwise. At most what was held, because more cannot be charged.
 */
export function usageOf(received: Received, { prompt, limits, log }: Asked): Usage {
  const { inputTokens, outputTokens } = received
  const reported = inputTokens !== undefined && outputTokens !== undefined
  const input = inputTokens ?? estimate(bytesOf(prompt))
  const output = outputTokens ?? generatedTokens(received)
  const usage = {
    inputTokens: Math.min(input, mostTokens(prompt)),
    outputTokens: Math.min(output, limits.maxOutputTokens),
    source: reported ? 'upstream' : 'estimated',
  } as const
  if (reported && (usage.inputTokens < input || usage.outputTokens < output)) {
    const { requestId: request_id } = limits
    log.warn(
      { request_id, reported: { input, output }, charged: usage },
      'the upstream reports more tokens than were asked for',
    )
  }
  return usage
}

/** The end of a run that was broken off: what has come by then, whatever the upstream had said of it in passing. */
export function brokenOff(stopReason: 'cancelled' | 'error', received: Received, { prompt, limits }: Asked): RunEnd {
  const input = received.inputTokens ?? estimate(bytesOf(prompt))
  const output = Math.max(received.outputTokens ?? 0, generatedTokens(received))
  return {
    stopReason,
    usage: {
      inputTokens: Math.min(input, mostTokens(prompt)),
      outputTokens: Math.min(output, limits.maxOutputTokens),
      source: 'estimated',
    },
  }
}

/** The end of a run that never began. */
export const neverBegun: RunEnd = Object.freeze({
  stopReason: 'cancelled',
  usage: Object.freeze({ inputTokens: 0, outputTokens: 0, source: 'estimated' }),
})

/** A run that was sent off and nothing has come of: the prompt was worked on. */
export const nothingReceived: Received = { pieces: 0, bytes: 0, inputTokens: undefined, outputTokens: undefined }

/** A reply in one piece, with what was counted, where it was. */
export interface Counted {
  readonly text: string
  readonly stopReason: StopReason
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/** A run whose reply came in one piece; without one its caller left: what it wrote is lost, the prompt it had been given. */
export function wholeOf(reply: Counted | undefined, asked: Asked): WholeReply {
  if (!reply) return { text: '', ...brokenOff('cancelled', nothingReceived, asked) }
  const { text, stopReason, inputTokens, outputTokens } = reply
  const received = { pieces: undefined, bytes: Buffer.byteLength(text), inputTokens, outputTokens }
  return { text, stopReason, usage: usageOf(received, asked) }
}

function generatedTokens({ pieces, bytes }: Received): number {
  return pieces === undefined || bytes > pieces * mostBytesOfToken ? estimate(bytes) : pieces
}
