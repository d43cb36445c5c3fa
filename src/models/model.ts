import type { Problem } from '../platform/problems.ts'

/** Who speaks in a prompt. `/v1/generate` sends its instructions as `system` and its input as `user`. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly text: string
}

/** What a model is asked to continue. The texts are plain text: nothing in them is read as a control token. */
export interface Prompt {
  readonly messages: readonly Message[]
}

/** How far and in what manner a model may go on. */
export interface RunLimits {
  /** Tokens; the reply never has more. */
  readonly maxOutputTokens: number
  /** 0 takes the likeliest token each time and is the default of every engine. */
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  /** Whose work it is. Where requests wait for a model, accounts take turns. */
  readonly account?: string
}

/**
 * Why a reply ended (section 2.2 of the specification). The caller of one that is `cancelled` has gone; `error` occurs on
 * streams only.
 */
export type StopReason = 'complete' | 'max_output_tokens' | 'stop_sequence' | 'content_filter' | 'cancelled' | 'error'

/** Who counted: the model that did the work, the upstream that reported it, or we ourselves because nobody did. */
export type UsageSource = 'model' | 'upstream' | 'estimated'

/** Tokens of one call, in and out. The end-of-text token is not counted. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly source: UsageSource
}

/** How a run ended. */
export interface Ending {
  readonly stopReason: StopReason
  readonly usage: Usage
}

/** A run in one piece. */
export interface Whole extends Ending {
  readonly text: string
}

/** How a stream ended: once and last. */
export interface End extends Ending {
  readonly kind: 'end'
  /** Of an end with `error`: what a request that fails so is told. */
  readonly problem?: Problem
}

/** One step of a stream: the texts that have come since the last one, in order and none of them empty, or its end. */
export type Piece = { readonly kind: 'texts'; readonly texts: readonly string[] } | End

/**
 * The port to whatever generates text. The local engine and the upstreams implement it; nothing else knows about them.
 *
 * All of it throws a `Problem`: `unavailable` while the model cannot be reached, `overloaded` when its queue is full,
 * `upstream_failed` and `upstream_timeout` for an upstream's faults.
 */
export interface Model {
  /** The id in the configuration. */
  readonly id: string
  /** Tokens that the prompt and the reply may have together. */
  readonly contextTokens: number
  readonly maxOutputTokens: number
  /**
   * Tokens of the rendered prompt. `exact` is false where only an upper bound can be known before the call; the usage
   * of the run is then at most that.
   */
  count(prompt: Prompt, signal?: AbortSignal): Promise<{ readonly tokens: number; readonly exact: boolean }>
  /**
   * Generates a reply and gives it whole, or throws. When `signal` aborts, the work stops within one token and the run ends
   * with `cancelled` and what is there by then.
   */
  run(prompt: Prompt, limits: RunLimits, signal: AbortSignal): Promise<Whole>
  /**
   * The same, told while it is generated. Until its first piece a stream may throw, and nothing was generated. After it a
   * stream never throws: what goes wrong then ends it with `error` and the usage so far.
   */
  stream(prompt: Prompt, limits: RunLimits, signal: AbortSignal): AsyncIterable<Piece>
  /** Whether a request would be served now; `reason` is for an operator, and may also name what fails in part. */
  health(): { readonly ready: boolean; readonly reason?: string }
  close(): Promise<void>
}
