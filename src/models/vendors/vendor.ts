import type { FilePart } from '../conversation.ts'
import type { StopReason } from '../model.ts'
import type { Findings } from '../reported/reported-model.ts'

/**
 * What is known of a vendor, or of a program that serves models: only what differs from OpenAI's API as most servers have it. A file
 * of this folder has all that is known of one.
 */
export interface Vendor {
  /** The vendor's models, by their names in any case. */
  readonly models?: RegExp
  /** What requests for these models may have on any server. */
  readonly accepts?: Partial<AcceptedFields>
  /** How servers at these hosts take the fields in which servers differ. */
  readonly form?: { readonly hosts: RegExp; readonly bound: RequestForm['bound'] }
  /** Where a reply has counts. */
  readonly usage?: UsageNames
  /** Finish reasons, in lower case with underscores. */
  readonly finishReasons?: Partial<Record<StopReason, readonly string[]>>
  /** What images cost, by names of models without a prefix such as `openai/`, the most specific first. */
  readonly images?: readonly (readonly [names: RegExp, tokens: ImageTokens])[]
  /** The encodings of its tokens, likewise. */
  readonly encodings?: readonly (readonly [names: RegExp, encoding: string])[]
  /** What an entry of its list of models says. Entries of others say nothing in these fields. */
  readonly listed?: (entry: unknown) => Findings
}

/** What a server accepts besides what all of them do, as far as the name of its model shows. */
export interface AcceptedFields {
  /** `cache_control`. Gateways pass it on to Claude; other models refuse it or cache by themselves. */
  readonly cacheMarks: boolean
  /** Earlier reasoning with its signatures, as `reasoning_details`. */
  readonly signatures: boolean
  /** Earlier reasoning as `reasoning_content`, in turns with calls. */
  readonly earlierReasoning: 'required' | 'accepted' | 'refused'
  /** `frequency_penalty` and `presence_penalty`. */
  readonly penalties: boolean
  /** `logprobs` and `top_logprobs`. */
  readonly logprobs: boolean
  /** `n`. */
  readonly choices: boolean
}

/** How a server takes the fields in which servers differ. */
export interface RequestForm {
  /** The field for the most tokens of a reply. */
  readonly bound: 'max_tokens' | 'max_completion_tokens'
  /** Whether it takes `stream_options`, which asks for the usage of a stream. */
  readonly streamOptions: boolean
  /** Whether it takes only one system message, at the beginning: some chat templates do. */
  readonly oneSystem: boolean
}

/** Names of counts in `usage`, or in the details of the prompt's tokens. */
export interface UsageNames {
  readonly cached?: string
  readonly written?: string
  readonly writtenInDetails?: string
  readonly reasoning?: string
}

/** The tokens of an image. Width and height are in pixels. */
export type ImageTokens = (width: number, height: number, detail: FilePart['detail']) => number

/**
 * OpenAI's rule for some models: the image is scaled into a square of 2048, then to a short side of 768, and each tile of 512
 * that it covers costs `tile` tokens. With low detail, only the base is charged.
 */
export const tiles =
  (base: number, tile: number): ImageTokens =>
  (width, height, detail) => {
    if (detail === 'low') return base
    const fitted = Math.min(1, 2048 / Math.max(width, height))
    const scale = fitted * Math.min(1, 768 / (Math.min(width, height) * fitted))
    return base + tile * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  }

/** `each` tokens for each square of `side` pixels that the image covers. An image that covers more than `most` squares is scaled down. */
export const patches =
  (side: number, most: number, each = 1): ImageTokens =>
  (width, height) =>
    Math.ceil(Math.min(Math.ceil(width / side) * Math.ceil(height / side), most) * each)
