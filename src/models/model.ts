import type { ReportedTerms } from '../billing/prices/terms.ts'
import type { Problem } from '../platform/problems.ts'
import type { Capability } from './capabilities.ts'
import type { Delta, Prompt, ReplyPart, TokenLogprob } from './conversation.ts'

export type { Message, Prompt } from './conversation.ts'

/** The bounds of one run and how to sample it. */
export interface RunLimits {
  /** The most tokens that the reply may have, or each choice of it. */
  readonly maxOutputTokens: number
  /** How many replies to generate from one prompt: the choices. Default: one. Only of a model that takes `n`. */
  readonly choices?: number | undefined
  /** Default: the model's own. That of the local engine is 0: the most likely token each time. */
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  /**
   * Asks for the log probability of each token of the text, and of this many of the most likely tokens in its place. Only of a model that
   * takes `logprobs`.
   */
  readonly logprobs?: number | undefined
  /** The account that pays. Accounts take turns where requests queue for a model. */
  readonly account?: string
  /** Whether the run takes only a free slot of a local model, and gives it up for another: it then throws Problem `unavailable`. Default: no. */
  readonly yields?: boolean | undefined
  /** Appears as `request_id` in every log line of the run. */
  readonly requestId?: string | undefined
}

/**
 * Why a reply ended (section 2.2 of the specification). `cancelled`: its caller disconnected. `error` occurs on streams
 * only.
 */
export type StopReason = 'complete' | 'max_output_tokens' | 'stop_sequence' | 'content_filter' | 'cancelled' | 'error'

/** Who counted the tokens: the local model, the upstream, or Tollgate because neither did. */
export type UsageSource = 'model' | 'upstream' | 'estimated'

/** Tokens of one run. The end-of-text token is not counted. */
export interface Usage {
  /** Tokens of the prompt that were neither read from a cache nor written to one. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Tokens of the prompt that the upstream read from its cache. */
  readonly cachedTokens?: number | undefined
  /** Tokens of the prompt that the upstream wrote to its cache. */
  readonly cacheWriteTokens?: number | undefined
  /** The output tokens that were spent on reasoning, where the upstream reports them. */
  readonly reasoningTokens?: number | undefined
  /** What else decides about its price. Undefined: nothing out of the ordinary. */
  readonly terms?: ReportedTerms | undefined
  readonly source: UsageSource
}

/** How a run ended and what it used, for all choices together. */
export interface RunEnd {
  readonly stopReason: StopReason
  readonly usage: Usage
}

/** One of the replies to a prompt. */
export interface ReplyChoice {
  readonly text: string
  /** All of it in its order, its text included, if the model returned anything but text. */
  readonly parts?: readonly ReplyPart[] | undefined
  /** Those of its text, if they were asked for. */
  readonly logprobs?: readonly TokenLogprob[] | undefined
  readonly stopReason: StopReason
}

/** A reply that is returned at once: its first choice. */
export interface WholeReply extends RunEnd, ReplyChoice {
  /** The choices after the first, if several were asked for. */
  readonly others?: readonly ReplyChoice[] | undefined
}

/** The last part of a stream. */
export interface StreamEnd extends RunEnd {
  readonly kind: 'end'
  /** Why the choices after the first ended, if several were asked for. */
  readonly otherReasons?: readonly StopReason[] | undefined
  /** With stop reason `error`: what to report to the caller. */
  readonly problem?: Problem
}

/**
 * A text with the log probabilities of its tokens. It is empty if its only token is the beginning of a character: the text of that follows
 * with the next one.
 */
export interface ScoredText {
  readonly kind: 'scored'
  readonly text: string
  readonly logprobs: readonly TokenLogprob[]
  readonly choice?: number | undefined
}

/**
 * One step of a stream: the texts or the deltas since the previous step, in order and none of them empty, or the end. A text is `scored`
 * only if log probabilities were asked for. `choice`: which choice it belongs to, from 0. Default: the first.
 */
export type StreamPart =
  | { readonly kind: 'texts'; readonly texts: readonly string[]; readonly choice?: number | undefined }
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[]; readonly choice?: number | undefined }
  | ScoredText
  | StreamEnd

/**
 * Tokens of a rendered prompt. An exact count comes from the model itself. Otherwise `tokens` is an estimate, the run may
 * report another number, and `most`, the estimate plus its margin, is what to hold.
 */
export type TokenCount =
  | { readonly exact: true; readonly tokens: number }
  | { readonly exact: false; readonly tokens: number; readonly most: number }

export interface CountOptions {
  readonly signal?: AbortSignal | undefined
  /** Appears as `request_id` in every log line of the count. */
  readonly requestId?: string | undefined
  /** As of `EmbeddingOptions`. A length that the model is known not to support is refused. */
  readonly dimensions?: number | undefined
}

/** The embedding of a text: its numbers, or the base64 of them as 32-bit floats, little endian. */
export type Vector = readonly number[] | Float32Array | string

/** How to make embeddings. */
export interface EmbeddingOptions {
  /** `float`: the vectors are numbers; `base64`: they are texts. */
  readonly encoding: 'float' | 'base64'
  /** How many numbers each vector should have. Default: as many as the model makes. */
  readonly dimensions?: number | undefined
  /** The account that pays. Accounts take turns where requests queue for a model. */
  readonly account?: string | undefined
  /** As of `RunLimits`. */
  readonly yields?: boolean | undefined
  /** Appears as `request_id` in every log line of the run. */
  readonly requestId?: string | undefined
}

/** Embeddings, or how a run without them ended: its caller disconnected. */
export interface EmbeddedTexts {
  /** One for each text, in their order; all have the same length. Undefined if the caller disconnected. */
  readonly vectors: readonly Vector[] | undefined
  readonly usage: Usage
}

/**
 * The port to everything that generates text. Local engines and upstreams implement it; no other code knows about them.
 *
 * Every method throws a `Problem`: `unavailable` while the model cannot be reached, `overloaded` when its queue is full,
 * `upstream_failed` and `upstream_timeout` for faults of an upstream.
 */
export interface Model {
  /** The id in the configuration. */
  readonly id: string
  /** The most tokens that a prompt and its reply may have together, or a text to embed. */
  readonly contextTokens: number
  readonly maxOutputTokens: number
  /** A prompt that needs another one is refused before it reaches the model. */
  readonly capabilities: ReadonlySet<Capability>
  /** The fields of `VendorFields` that may reach it, and those of `writtenFields` that it does what they ask for. Default: none. */
  readonly takes?: ReadonlySet<string> | undefined
  /** Whether it can let its vendor search the web. Default: no. */
  readonly searches?: boolean | undefined
  /** Whether a reply can continue a last message of the assistant. Default: no. */
  readonly continues?: boolean | undefined
  /** The longest prompt, in characters, that is cheap to count. Longer ones are counted only for accounts that could pay. */
  readonly cheapPrompt: number
  count(prompt: Prompt, options?: CountOptions): Promise<TokenCount>
  /** The most tokens that the prompt can have, whatever an upstream counts. Default: as many as counted. */
  mostTokens?(prompt: Prompt): number
  /**
   * Generates a reply and returns it whole, or throws. When `signal` aborts, generation stops within one token, and the
   * reply so far is returned with stop reason `cancelled`.
   */
  run(prompt: Prompt, limits: RunLimits, signal: AbortSignal): Promise<WholeReply>
  /**
   * Generates the same reply as a stream. It may throw before its first part; then nothing was generated. Later failures
   * do not throw: the stream ends with stop reason `error` and the usage so far.
   */
  stream(prompt: Prompt, limits: RunLimits, signal: AbortSignal): AsyncIterable<StreamPart>
  /**
   * The embeddings of a prompt's messages. Only an embedding model has it, and such a model generates no text. When
   * `signal` aborts, resolves without vectors.
   */
  embed?(prompt: Prompt, options: EmbeddingOptions, signal: AbortSignal): Promise<EmbeddedTexts>
  /** Whether the model can serve a request now. `reason` is for the operator; a ready model may have one too. */
  health(): { readonly ready: boolean; readonly reason?: string }
  close(): Promise<void>
}
