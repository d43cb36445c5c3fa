import type { Fault } from './vendor-faults.ts'

/** How the stand-in answers. Whatever is left out is as on a healthy server. */
export interface VendorOptions {
  /** What it says; null is sent as null. */
  readonly text?: string | null
  /** In OpenAI's words; the other dialects translate those they know. */
  readonly finishReason?: string | null
  /** The stop sequence that ended it, as vLLM says it in chat completions. */
  readonly matchedStop?: string
  /** Sent as it is, in OpenAI's words; null for a server that reports none. */
  readonly usage?: unknown
  /** Milliseconds before it answers. */
  readonly delay?: number
  /** The body of a whole reply waits for it; the headers do not. */
  readonly bodyGate?: Promise<void>
  /**
   * What each token of a stream waits for, by its index, and the end of it, by their number; an answer in one piece waits
   * for 0. Nothing can be told in words to a stand-in in another process, so there is none there.
   */
  readonly gate?: (step: number) => Promise<void>
  readonly fault?: Fault
  /** How many calls the fault lasts; for good when left out. */
  readonly times?: number
  /** Tokens of a stream before the fault. Without it the fault comes in the place of the answer, where it can. */
  readonly after?: number
  /** What `rate_limit` sends as Retry-After; none when left out. */
  readonly retryAfter?: string
  /** The pieces of a stream, or how many; those of the text when left out. */
  readonly tokens?: readonly string[] | number
  /** The pace of a stream; all at once when left out. */
  readonly tokensPerSecond?: number
  /** Which events of a stream have the usage of all there is by then. Anthropic's has its own places: `several`. */
  readonly usageOn?: 'last' | 'first' | 'several' | 'all' | 'none'
  /** Bytes of one write of a stream; an event each when left out. */
  readonly cut?: number
}

/** Counted from the tokens when the options do not say. */
export const promptTokens = 12

/** The pieces that a stream comes in. */
export function tokensOf({ tokens, text }: VendorOptions): readonly string[] {
  if (typeof tokens === 'number') return Array.from({ length: tokens }, (_, index) => (index === 0 ? 'word' : ' word'))
  return tokens ?? (text === undefined ? 'Hello there.' : (text ?? '')).match(/ ?[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu) ?? []
}

/** What it says, whole. */
export function textOf({ text, tokens }: VendorOptions): string | null {
  if (text !== undefined) return text
  return tokens === undefined ? 'Hello there.' : tokensOf({ tokens }).join('')
}

/** Tokens in and out, as the options say it; else those of the tokens, and 3 for a text. Only what is a number is one. */
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
