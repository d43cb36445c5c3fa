import { Type } from 'typebox'
import type { ReportedTerms } from '../../../billing/prices/terms.ts'
import type { UsageNames } from '../../vendors/vendor.ts'
import { vendors } from '../../vendors/vendors.ts'
import { at, isCount } from '../../../platform/text/json.ts'
import { readTerms } from '../reported-terms.ts'
import type { ReportedCounts } from '../usage.ts'

/** Any value: a count that is no count is as if it were not reported, and never spoils a reply. */
export const UsageField = Type.Optional(Type.Unknown())

/** The counts of `usage` as they were sent: those of the cache are part of the prompt. */
export interface ChatUsage {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly total: number | undefined
  readonly cached: number | undefined
  readonly written: number | undefined
  readonly reasoning: number | undefined
  readonly terms: ReportedTerms | undefined
}

/** The usage of a reply or an event, wherever the server puts it. */
export function readUsageOf(
  reply: { readonly usage?: unknown; readonly x_groq?: unknown; readonly service_tier?: unknown },
  /** Moonshot reports the usage of a stream here. */
  choice: { readonly usage?: unknown } | undefined,
): ChatUsage | undefined {
  const { usage, x_groq: groq, service_tier: tier } = reply
  return readChatUsage(usage, tier) ?? readChatUsage(at(groq, 'usage'), tier) ?? readChatUsage(choice?.usage, tier)
}

const namesOf = (kind: keyof UsageNames): readonly string[] => vendors.flatMap(({ usage }) => usage?.[kind] ?? [])

/** The names that vendors give to counts, where OpenAI has none or another. */
const names = {
  cached: namesOf('cached'),
  written: namesOf('written'),
  writtenInDetails: namesOf('writtenInDetails'),
  reasoning: namesOf('reasoning'),
}

/** Undefined if it has no count. Events of a stream hardly ever have one. */
function readChatUsage(usage: unknown, serviceTier?: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined
  const ofPrompt = usage['prompt_tokens_details'] ?? usage['input_tokens_details']
  const ofCompletion = usage['completion_tokens_details'] ?? usage['output_tokens_details']
  const prompt = countOf(usage['prompt_tokens']) ?? countOf(usage['input_tokens'])
  const completion = countOf(usage['completion_tokens']) ?? countOf(usage['output_tokens'])
  const total = countOf(usage['total_tokens'])
  const cached = countIn(ofPrompt, 'cached_tokens') ?? firstCount(usage, names.cached)
  const written = firstCount(ofPrompt, names.writtenInDetails) ?? firstCount(usage, names.written)
  const reasoning = countIn(ofCompletion, 'reasoning_tokens') ?? firstCount(usage, names.reasoning)
  return (prompt ?? completion ?? total ?? cached ?? written ?? reasoning) === undefined
    ? undefined
    : { prompt, completion, total, cached, written, reasoning, terms: readTerms(usage, serviceTier) }
}

/** What an upstream reported of its cache, from a `usage` that nobody has checked; undefined if it is of another API. */
export function readCacheUsage(usage: unknown): Pick<ChatUsage, 'cached' | 'written'> | undefined {
  return readChatUsage(usage)
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
    terms: later.terms ?? before.terms,
  }
}

/** The counts without overlap: their sum is what the server says the prompt had, whatever it says of its cache. */
export function countsOf(usage: ChatUsage | undefined): ReportedCounts {
  const { prompt, completion } = withTotal(usage)
  const cached = prompt === undefined ? undefined : atMost(usage?.cached, prompt)
  const written = prompt === undefined ? undefined : atMost(usage?.written, prompt - (cached ?? 0))
  return {
    inputTokens: prompt === undefined ? undefined : prompt - (cached ?? 0) - (written ?? 0),
    outputTokens: completion,
    cachedTokens: cached,
    cacheWriteTokens: written,
    reasoningTokens: usage?.reasoning,
    terms: usage?.terms,
  }
}

/** A count that is missing follows from the total. Reasoning may be in the total only, as xAI and Gemini report it. */
function withTotal(usage: ChatUsage | undefined): Partial<Pick<ChatUsage, 'prompt' | 'completion'>> {
  if (usage?.total === undefined) return usage ?? {}
  const { prompt, completion, total, cached = 0, written = 0 } = usage
  if (prompt === undefined)
    return { prompt: completion === undefined ? undefined : atLeast0(total - completion), completion }
  if (completion === undefined) return { prompt, completion: atLeast0(total - prompt) }
  const hidden = total - prompt - completion
  // Some servers count the cache beside the prompt.
  const isCache = hidden === cached || hidden === written || hidden === cached + written
  const isReasoning = usage.reasoning === undefined ? hidden > 0 && !isCache : hidden === usage.reasoning
  return { prompt, completion: isReasoning ? completion + hidden : completion }
}

const atLeast0 = (count: number): number => Math.max(0, count)

const atMost = (count: number | undefined, most: number): number | undefined =>
  count === undefined ? undefined : Math.min(count, most)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function firstCount(value: unknown, among: readonly string[]): number | undefined {
  for (const name of among) {
    const count = countIn(value, name)
    if (count !== undefined) return count
  }
  return undefined
}

const countIn = (value: unknown, name: string): number | undefined => countOf(at(value, name))

const countOf = (value: unknown): number | undefined => (isCount(value) ? value : undefined)
