import type { Fault } from './vendor-faults.ts'

/** How the stand-in replies. Defaults are those of a healthy server. */
export interface VendorOptions {
  /** The text of the reply. null is sent as null. */
  readonly text?: string | null
  /** OpenAI's finish reason. Other dialects translate the ones they know. */
  readonly finishReason?: string | null
  /** The stop sequence that ended the reply, in vLLM's field of chat completions. */
  readonly matchedStop?: string
  /** Sent unchanged, with OpenAI's names. null for a server that reports none. */
  readonly usage?: unknown
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
  /** The events of a stream that report usage so far. Anthropic's dialect has fixed places: `several`. */
  readonly usageOn?: 'last' | 'first' | 'several' | 'all' | 'none'
  /** Bytes of each write of a stream. Default: one event. */
  readonly cut?: number
}

/** The input tokens of a reply, unless `usage` says otherwise. */
export const promptTokens = 12

/** The pieces of a stream. */
export function tokensOf({ tokens, text }: VendorOptions): readonly string[] {
  if (typeof tokens === 'number') return Array.from({ length: tokens }, (_, index) => (index === 0 ? 'word' : ' word'))
  return tokens ?? (text === undefined ? 'Hello there.' : (text ?? '')).match(/ ?[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu) ?? []
}

/** The complete text of the reply. */
export function textOf({ text, tokens }: VendorOptions): string | null {
  if (text !== undefined) return text
  return tokens === undefined ? 'Hello there.' : tokensOf({ tokens }).join('')
}

/** Input and output tokens: from `usage` if numeric, otherwise the number of `tokens`, or 3 for a text. */
export function countsOf(options: VendorOptions): { input: number; output: number } {
  const { usage } = options
  const read = (name: string): number | undefined => {
    const value: unknown = typeof usage === 'object' && usage !== null ? Reflect.get(usage, name) : undefined
    return typeof value === 'number' ? value : undefined
  }
  return {
    input: read('prompt_tokens') ?? promptTokens,
    output: read('completion_tokens') ?? (options.tokens === undefined ? 3 : tokensOf(options).length),
  }
}
