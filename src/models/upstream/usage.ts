import type { Logger } from 'pino'
import type { ReplyPart } from '../conversation.ts'
import { bytesOf } from '../counted.ts'
import type { Prompt, RunEnd, RunLimits, StopReason, Usage, WholeReply } from '../model.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** One run at an upstream. */
export interface UpstreamRun {
  readonly prompt: Prompt
  readonly limits: RunLimits
  readonly signal: AbortSignal
  readonly log: Logger
  readonly tokenizer: Pick<Tokenizer, 'estimateOf' | 'fileTokens'>
}

/** Average bytes of one token of English text. */
const bytesPerToken = 4

/** If the deltas of a stream are longer than this on average, each contains more than one token. */
const mostBytesOfToken = 16

const estimate = (bytes: number): number => Math.ceil(bytes / bytesPerToken)

/** The counts that an upstream reported, as in `Usage`. Counts that it did not report are undefined. */
export interface ReportedCounts {
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** The part of a reply that arrived, and the counts that the upstream reported. */
export interface Received extends ReportedCounts {
  /** Events of a stream with anything generated; undefined for a whole reply. */
  readonly pieces: number | undefined
  /** Of all that was generated: text, thoughts and calls. */
  readonly bytes: number
}

/**
 * The usage of a reply as the upstream reports it, even if it exceeds the hold. Counts that it does not report are
 * estimated: the prompt by the model's tokenizer, the reply as one token per delta or per 4 bytes.
 */
export function usageOf(received: Received, run: UpstreamRun): Usage {
  const { inputTokens, outputTokens } = received
  const isReported = inputTokens !== undefined && outputTokens !== undefined
  const output = outputTokens ?? Math.min(generatedTokens(received), run.limits.maxOutputTokens)
  return usageWith(received, output, run, isReported ? 'upstream' : 'estimated')
}

/** The end of a run that broke off, with the usage of the part that arrived. Counts reported before the end are provisional. */
export function brokenOff(stopReason: 'cancelled' | 'error', received: Received, run: UpstreamRun): RunEnd {
  const output = Math.max(received.outputTokens ?? 0, generatedTokens(received))
  return {
    stopReason,
    usage: usageWith(received, Math.min(output, run.limits.maxOutputTokens), run, 'estimated'),
  }
}

function usageWith(counts: ReportedCounts, outputTokens: number, run: UpstreamRun, source: Usage['source']): Usage {
  const { inputTokens = promptTokens(run), cachedTokens, cacheWriteTokens, reasoningTokens } = counts
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }),
    source,
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
export interface UpstreamReply extends ReportedCounts {
  readonly text: string
  /** All of it in its order, its text included, if there is anything but text. */
  readonly parts?: readonly ReplyPart[] | undefined
  readonly stopReason: StopReason
}

/** The result of a run. Without a reply its caller disconnected: the prompt was read, and the text is lost. */
export function wholeOf(reply: UpstreamReply | undefined, run: UpstreamRun): WholeReply {
  if (!reply) return { text: '', ...brokenOff('cancelled', nothingReceived, run) }
  const { text, parts, stopReason, ...counts } = reply
  const received = { ...counts, pieces: undefined, bytes: bytesOfReply(reply) }
  return { text, ...(parts && { parts }), stopReason, usage: usageOf(received, run) }
}

function bytesOfReply({ text, parts }: UpstreamReply): number {
  if (!parts) return Buffer.byteLength(text)
  return parts.reduce((sum, part) => sum + Buffer.byteLength(textOfPart(part)), 0)
}

const textOfPart = (part: ReplyPart): string => (part.kind === 'call' ? part.tool + part.input : part.text)

function promptTokens({ prompt, tokenizer }: UpstreamRun): number {
  return tokenizer.estimateOf(prompt) ?? estimate(bytesOf(prompt)) + tokenizer.fileTokens(prompt)
}

function generatedTokens({ pieces, bytes }: Received): number {
  return pieces === undefined || bytes > pieces * mostBytesOfToken ? estimate(bytes) : pieces
}
