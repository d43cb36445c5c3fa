import { at } from './json.ts'
import type { Fault } from './vendor-faults.ts'

/** How the stand-in replies. Defaults are those of a healthy server. */
export interface VendorOptions {
  /** The text of the reply. null is sent as null. */
  readonly text?: string | null
  /** OpenAI's finish reason. Other dialects translate the ones they know. */
  readonly finishReason?: string | null
  /** The stop sequence that ended the reply, in vLLM's field of chat completions. */
  readonly matchedStop?: string
  /**
   * What the model thinks before its text. OpenAI's chat completions have no reasoning: it is sent as DeepSeek does, and the
   * responses send them as a summary.
   */
  readonly thinking?: string
  /** Anthropic's signature of the reasoning; the encrypted content of a reasoning item. */
  readonly signature?: string
  /** Calls of tools after the text. With calls and without `text` or `tokens`, the reply has no text. */
  readonly calls?: readonly VendorCall[]
  /**
   * Instead of reasoning, text and calls: all parts of the reply in their order, as far as the API has one. Chat completions have
   * the signatures of this reasoning in OpenRouter's field.
   */
  readonly parts?: readonly VendorPart[]
  /**
   * Sent unchanged, with OpenAI's names. null for a server that reports none. Other dialects translate the tokens and their
   * details: `prompt_tokens_details: { cached_tokens, cache_write_tokens }` and
   * `completion_tokens_details: { reasoning_tokens }`. The cached ones are part of `prompt_tokens`, as OpenAI counts.
   */
  readonly usage?: unknown
  /** The service tier of the reply, where OpenAI's APIs have it. */
  readonly serviceTier?: string
  /** The searches of the web that a whole reply of OpenAI's responses lists, and pages that were opened. */
  readonly searches?: readonly ('search' | 'open_page')[]
  /** Fields that Anthropic's usage has besides tokens. */
  readonly usageFields?: object
  /** Delay before the response, in ms. */
  readonly delay?: number
  /** Delays the body of a whole reply, but not its headers. */
  readonly bodyGate?: Promise<void>
  /**
   * Each token of a stream waits for its index, and the end for the number of tokens. A whole reply waits for 0. Not
   * available for a stand-in in another process.
   */
  readonly gate?: (step: number) => Promise<void>
  readonly fault?: Fault
  /** The number of calls with the fault. Default: all. */
  readonly times?: number
  /** Tokens of a stream before the fault. Without it the fault replaces the response, if possible. */
  readonly after?: number
  /** Retry-After of `rate_limit`. Default: none. */
  readonly retryAfter?: string
  /** The pieces of a stream, or their number. Default: those of the text. */
  readonly tokens?: readonly string[] | number
  /** The pace of a stream. Default: all at once. */
  readonly tokensPerSecond?: number
  /** The choices after the first, in chat completions. Default: none. */
  readonly others?: readonly VendorOptions[]
  /** Sends a log probability with each piece of a text, as OpenAI's chat completions do. Default: no. */
  readonly logprobs?: boolean
  /** The events of a stream that report usage so far. Anthropic's dialect has fixed places: `several`. */
  readonly usageOn?: 'last' | 'first' | 'several' | 'all' | 'none'
  /** Bytes of each write of a stream. Default: one event. */
  readonly cut?: number
}

/** A call of a tool. */
export interface VendorCall {
  /** `call_…` or `toolu_…` in reality. */
  readonly id: string
  readonly name: string
  /** The arguments as the model wrote them: a JSON text, or a broken one. */
  readonly input: string
  /** The pieces of the input in a stream. Default: of 8 characters. */
  readonly pieces?: readonly string[]
}

/** A part of a reply. */
export type VendorPart =
  | { readonly kind: 'text'; readonly text: string }
  | VendorReasoning
  | (VendorCall & { readonly kind: 'call' })

export interface VendorReasoning {
  readonly kind: 'reasoning'
  readonly text: string
  readonly signature?: string | undefined
  /** Whether the text is withheld, and only the signature is sent. */
  readonly redacted?: true | undefined
}

/** The parts of a reply, with the pieces of each in a stream. */
export type PlayedPart = VendorPart & { readonly pieces: readonly string[] }

export function partsOf(options: VendorOptions): readonly PlayedPart[] {
  const { parts, thinking, signature, calls = [] } = options
  if (parts) {
    return parts.map((part) => ({ ...part, pieces: part.kind === 'call' ? piecesOfCall(part) : wordsOf(part.text) }))
  }
  const text = textOf(options)
  return [
    ...(thinking === undefined
      ? []
      : [{ kind: 'reasoning' as const, text: thinking, signature, pieces: reasoningOf(options) }]),
    ...(text !== null || calls.length === 0
      ? [{ kind: 'text' as const, text: text ?? '', pieces: tokensOf(options) }]
      : []),
    ...calls.map((call) => ({ kind: 'call' as const, ...call, pieces: piecesOfCall(call) })),
  ]
}

/** The input tokens of a reply, unless `usage` says otherwise. */
export const promptTokens = 12

/** The pieces of the text of a stream. */
export function tokensOf({ tokens, text, calls, parts }: VendorOptions): readonly string[] {
  if (parts) return parts.flatMap((part) => wordsOf(wordsIn(part)))
  if (typeof tokens === 'number') return Array.from({ length: tokens }, (_, index) => (index === 0 ? 'word' : ' word'))
  return tokens ?? wordsOf(text === undefined && !calls ? 'Hello there.' : (text ?? ''))
}

const wordsOf = (text: string): readonly string[] => text.match(/ ?[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu) ?? []

/** The pieces of the reasoning of a stream. */
const reasoningOf = ({ thinking = '' }: VendorOptions): readonly string[] => wordsOf(thinking)

/** The pieces of the input of a call in a stream. */
const piecesOfCall = ({ input, pieces }: VendorCall): readonly string[] => pieces ?? input.match(/[^]{1,8}/gu) ?? []

/** The complete text of the reply. */
export function textOf({ text, tokens, calls, parts }: VendorOptions): string | null {
  if (parts) return parts.some(({ kind }) => kind === 'text') ? parts.map(wordsIn).join('') : null
  if (text !== undefined) return text
  if (tokens === undefined) return calls ? null : 'Hello there.'
  return tokensOf({ tokens }).join('')
}

const wordsIn = (part: VendorPart): string => (part.kind === 'text' ? part.text : '')

/** OpenAI's finish reason. */
export function finishReasonOf({ finishReason, calls, parts }: VendorOptions): string | null {
  if (finishReason !== undefined) return finishReason
  return calls || parts?.some(({ kind }) => kind === 'call') ? 'tool_calls' : 'stop'
}

/**
 * The tokens of a reply: from `usage` if numeric, otherwise the number of `tokens`, or 3 for a text. `input` includes
 * `cached` and `written`; these and `reasoning` are undefined where `usage` lacks them.
 */
export function countsOf(options: VendorOptions) {
  const { usage } = options
  const read = (...path: readonly string[]): number | undefined => {
    const value = at(usage, ...path)
    return typeof value === 'number' ? value : undefined
  }
  return {
    input: read('prompt_tokens') ?? promptTokens,
    output: read('completion_tokens') ?? (options.tokens === undefined ? 3 : tokensOf(options).length),
    cached: read('prompt_tokens_details', 'cached_tokens'),
    written: read('prompt_tokens_details', 'cache_write_tokens'),
    reasoning: read('completion_tokens_details', 'reasoning_tokens'),
  }
}
