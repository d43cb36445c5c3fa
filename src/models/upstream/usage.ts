import type { Logger } from 'pino'
import type { ReplyPart, TokenLogprob } from '../conversation.ts'
import { bytesOf } from '../counted.ts'
import type { Prompt, ReplyChoice, RunEnd, RunLimits, StopReason, Usage, WholeReply } from '../model.ts'
import type { ReportedTerms } from '../../billing/prices/terms.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** One run at an upstream. */
export interface UpstreamRun {
  readonly prompt: Prompt
  readonly limits: RunLimits
  readonly signal: AbortSignal
  readonly log: Logger
  readonly tokenizer: Pick<Tokenizer, 'estimateOf' | 'tokensBesidesText'>
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
  readonly terms?: ReportedTerms | undefined
}

/** The part of a reply that arrived, and the counts that the upstream reported. */
export interface ReceivedReply {
  readonly counts: ReportedCounts
  /** Events of a stream with anything generated; undefined for a whole reply. */
  readonly pieces: number | undefined
  /** The bytes of all that was generated: text, reasoning and calls. */
  readonly bytes: number
}

/**
 * The usage of a reply as the upstream reports it, even if it exceeds the hold. Counts that it does not report are
 * estimated: the prompt by the model's tokenizer, the reply as one token per delta or per 4 bytes.
 */
export function usageOf(received: ReceivedReply, run: UpstreamRun): Usage {
  const { counts } = received
  const isReported = counts.inputTokens !== undefined && counts.outputTokens !== undefined
  const output = counts.outputTokens ?? Math.min(generatedTokens(received), mostOutput(run.limits))
  return usageWith(counts, output, run, isReported ? 'upstream' : 'estimated')
}

/** The end of a run that broke off, with the usage of the part that arrived. Counts reported before the end are provisional. */
export function brokenOff(stopReason: 'cancelled' | 'error', received: ReceivedReply, run: UpstreamRun): RunEnd {
  const { counts } = received
  const output = Math.max(counts.outputTokens ?? 0, generatedTokens(received))
  return { stopReason, usage: usageWith(counts, Math.min(output, mostOutput(run.limits)), run, 'estimated') }
}

/** Of all choices together. */
const mostOutput = ({ maxOutputTokens, choices = 1 }: RunLimits): number => choices * maxOutputTokens

/** The largest integer of the database. Of a larger count, and of a prompt with more tokens of all kinds, the rest is dropped. */
export const mostTokens = 2 ** 31 - 1

function usageWith(counts: ReportedCounts, output: number, run: UpstreamRun, source: Usage['source']): Usage {
  const { inputTokens: input = promptTokens(run), cachedTokens, cacheWriteTokens, reasoningTokens, terms } = counts
  const outputTokens = Math.min(output, mostTokens)
  if ((cachedTokens ?? cacheWriteTokens ?? reasoningTokens ?? terms) === undefined) {
    return { inputTokens: Math.min(input, mostTokens), outputTokens, source }
  }
  let room = mostTokens
  const take = (count: number): number => {
    const taken = Math.min(count, room)
    room -= taken
    return taken
  }
  return {
    inputTokens: take(input),
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens: take(cachedTokens) }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens: take(cacheWriteTokens) }),
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }),
    ...(terms !== undefined && { terms }),
    source,
  }
}

/** The end of a run that never began. */
export const neverBegun: RunEnd = Object.freeze({
  stopReason: 'cancelled',
  usage: Object.freeze({ inputTokens: 0, outputTokens: 0, source: 'estimated' }),
})

/** A run that was sent and returned nothing: the upstream read the prompt. */
export const nothingReceived: ReceivedReply = {
  counts: { inputTokens: undefined, outputTokens: undefined },
  pieces: 0,
  bytes: 0,
}

/** A whole reply of an upstream, with the counts that it reports. */
export interface UpstreamReply {
  readonly text: string
  /** All of it in its order, its text included, if there is anything but text. */
  readonly parts?: readonly ReplyPart[] | undefined
  readonly logprobs?: readonly TokenLogprob[] | undefined
  readonly stopReason: StopReason
  /** As of `WholeReply`. */
  readonly others?: readonly ReplyChoice[] | undefined
  readonly counts: ReportedCounts
}

/** The result of a run. Without a reply its caller disconnected: the prompt was read, and the text is lost. */
export function wholeOf(reply: UpstreamReply | undefined, run: UpstreamRun): WholeReply {
  if (!reply) return { text: '', ...brokenOff('cancelled', nothingReceived, run) }
  const { text, parts, logprobs, others, stopReason, counts } = reply
  const usage = usageOf({ counts, pieces: undefined, bytes: bytesOfReply(reply) }, run)
  const whole = parts ? { text, parts, stopReason, usage } : { text, stopReason, usage }
  return logprobs || others ? { ...whole, ...(logprobs && { logprobs }), ...(others && { others }) } : whole
}

export function bytesOfReply(reply: UpstreamReply): number {
  const { others = [] } = reply
  return others.reduce((sum, choice) => sum + bytesOfChoice(choice), bytesOfChoice(reply))
}

function bytesOfChoice({ text, parts }: Pick<ReplyChoice, 'text' | 'parts'>): number {
  if (!parts) return Buffer.byteLength(text)
  return parts.reduce((sum, part) => sum + Buffer.byteLength(textOfPart(part)), 0)
}

const textOfPart = (part: ReplyPart): string => (part.kind === 'call' ? part.tool + part.input : part.text)

function promptTokens({ prompt, tokenizer }: UpstreamRun): number {
  return tokenizer.estimateOf(prompt) ?? estimate(bytesOf(prompt)) + tokenizer.tokensBesidesText(prompt)
}

function generatedTokens({ pieces, bytes }: ReceivedReply): number {
  return pieces === undefined || bytes > pieces * mostBytesOfToken ? estimate(bytes) : pieces
}
