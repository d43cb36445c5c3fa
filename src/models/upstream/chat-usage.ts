import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ReportedCounts } from './usage.ts'

const Tokens = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })
const Details = Type.Optional(Type.Unknown())

/** `usage` of a chat completion. The details are optional and differ between servers: they are ignored where they are not counts. */
const ReportedUsage = Type.Object({
  prompt_tokens: Type.Optional(Tokens),
  completion_tokens: Type.Optional(Tokens),
  total_tokens: Details,
  prompt_tokens_details: Details,
  completion_tokens_details: Details,
  /** DeepSeek. */
  prompt_cache_hit_tokens: Details,
  /** LiteLLM, as Anthropic. */
  cache_read_input_tokens: Details,
  cache_creation_input_tokens: Details,
  /** Moonshot. */
  cached_tokens: Details,
})

export const UsageField = Type.Optional(Type.Union([ReportedUsage, Type.Null()]))

/** The counts of `usage` as they were sent: those of the cache are part of the prompt. */
export interface ChatUsage {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly total: number | undefined
  readonly cached: number | undefined
  readonly written: number | undefined
  readonly reasoning: number | undefined
}

export function readChatUsage(usage: Static<typeof ReportedUsage> | null | undefined): ChatUsage | undefined {
  if (!usage) return undefined
  const { prompt_tokens_details: ofPrompt, completion_tokens_details: ofCompletion } = usage
  return {
    prompt: usage.prompt_tokens,
    completion: usage.completion_tokens,
    total: countOf(usage.total_tokens),
    cached:
      countIn(ofPrompt, 'cached_tokens') ??
      countOf(usage.prompt_cache_hit_tokens) ??
      countOf(usage.cache_read_input_tokens) ??
      countOf(usage.cached_tokens),
    written:
      // OpenRouter, LiteLLM, and LiteLLM as Anthropic.
      countIn(ofPrompt, 'cache_write_tokens') ??
      countIn(ofPrompt, 'cache_creation_tokens') ??
      countOf(usage.cache_creation_input_tokens),
    reasoning: countIn(ofCompletion, 'reasoning_tokens'),
  }
}

const reported = Compile(ReportedUsage)

/** What an upstream reported of its cache, from a `usage` that nobody has checked; undefined if it is of another API. */
export function readCacheUsage(usage: unknown): Pick<ChatUsage, 'cached' | 'written'> | undefined {
  return reported.Check(usage) ? readChatUsage(usage) : undefined
}

/** The later report of a stream counts. What it lacks is as before. */
export function laterUsage(before: ChatUsage | undefined, later: ChatUsage): ChatUsage {
  if (!before) return later
  return {
    prompt: later.prompt ?? before.prompt,
    completion: later.completion ?? before.completion,
    total: later.total ?? before.total,
    cached: later.cached ?? before.cached,
    written: later.written ?? before.written,
    reasoning: later.reasoning ?? before.reasoning,
  }
}

/** The counts without overlap: their sum is what the server says the prompt had, whatever it says of its cache. */
export function countsOf(usage: ChatUsage | undefined): ReportedCounts {
  const { prompt, completion } = usage ?? {}
  const cached = prompt === undefined ? undefined : atMost(usage?.cached, prompt)
  const written = prompt === undefined ? undefined : atMost(usage?.written, prompt - (cached ?? 0))
  return {
    inputTokens: prompt === undefined ? undefined : prompt - (cached ?? 0) - (written ?? 0),
    outputTokens: completion === undefined ? undefined : completion + hiddenReasoning(usage),
    cachedTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: usage?.reasoning,
  }
}

/** xAI counts reasoning in the total only. */
function hiddenReasoning({ prompt = 0, completion = 0, total, reasoning = 0 }: Partial<ChatUsage> = {}): number {
  return total === prompt + completion + reasoning ? reasoning : 0
}

const atMost = (count: number | undefined, most: number): number | undefined =>
  count === undefined ? undefined : Math.min(count, most)

function countIn(details: unknown, name: string): number | undefined {
  return typeof details === 'object' && details !== null ? countOf(Reflect.get(details, name)) : undefined
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
