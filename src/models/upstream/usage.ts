import type { Logger } from 'pino'
import { bytesOf } from '../counted.ts'
import type { Prompt, RunEnd, RunLimits, StopReason, Usage, WholeReply } from '../model.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** One run at an upstream. */
export interface UpstreamRun {
  readonly prompt: Prompt
  readonly limits: RunLimits
  readonly signal: AbortSignal
  readonly log: Logger
  readonly tokenizer: Pick<Tokenizer, 'estimateOf'>
}

/** Average bytes of one token of English text. */
const bytesPerToken = 4

/** If the deltas of a stream are longer than this on average, each contains more than one token. */
const mostBytesOfToken = 16

const estimate = (bytes: number): number => Math.ceil(bytes / bytesPerToken)

/** The part of a reply that arrived, and the counts that the upstream reported. Counts that it did not report are undefined. */
export interface Received {
  /** Deltas of a stream; undefined for a whole reply. */
  readonly pieces: number | undefined
  readonly bytes: number
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/**
 * The usage of a reply as the upstream reports it, even if it exceeds the hold. Counts that it does not report are
 * estimated: the prompt by the model's tokenizer, the reply as one token per delta or per 4 bytes.
 */
export function usageOf(received: Received, run: UpstreamRun): Usage {
  const { inputTokens, outputTokens } = received
  return {
    inputTokens: inputTokens ?? promptTokens(run),
    outputTokens: outputTokens ?? Math.min(generatedTokens(received), run.limits.maxOutputTokens),
    source: inputTokens !== undefined && outputTokens !== undefined ? 'upstream' : 'estimated',
  }
}

/** The end of a run that broke off, with the usage of the part that arrived. Counts reported before the end are provisional. */
export function brokenOff(stopReason: 'cancelled' | 'error', received: Received, run: UpstreamRun): RunEnd {
  const output = Math.max(received.outputTokens ?? 0, generatedTokens(received))
  return {
    stopReason,
    usage: {
      inputTokens: received.inputTokens ?? promptTokens(run),
      outputTokens: Math.min(output, run.limits.maxOutputTokens),
      source: 'estimated',
    },
  }
}

/** The end of a run that never began. */
export const neverBegun: RunEnd = Object.freeze({
  stopReason: 'cancelled',
  usage: Object.freeze({ inputTokens: 0, outputTokens: 0, source: 'estimated' }),
})

/** A run that was sent and returned nothing: the upstream read the prompt. */
export const nothingReceived: Received = { pieces: 0, bytes: 0, inputTokens: undefined, outputTokens: undefined }

/** A whole reply of an upstream, with the counts that it reports. */
export interface UpstreamReply {
  readonly text: string
  readonly stopReason: StopReason
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

/** The result of a run. Without a reply its caller disconnected: the prompt was read, and the text is lost. */
export function wholeOf(reply: UpstreamReply | undefined, run: UpstreamRun): WholeReply {
  if (!reply) return { text: '', ...brokenOff('cancelled', nothingReceived, run) }
  const { text, stopReason, inputTokens, outputTokens } = reply
  const received = { pieces: undefined, bytes: Buffer.byteLength(text), inputTokens, outputTokens }
  return { text, stopReason, usage: usageOf(received, run) }
}

function promptTokens({ prompt, tokenizer }: UpstreamRun): number {
  return tokenizer.estimateOf(prompt) ?? estimate(bytesOf(prompt))
}

function generatedTokens({ pieces, bytes }: Received): number {
  return pieces === undefined || bytes > pieces * mostBytesOfToken ? estimate(bytes) : pieces
}
