import { at, isCount } from '../../../platform/text/json.ts'
import { readCacheUsage } from '../chat/chat-usage.ts'
import { readTerms } from '../reported-terms.ts'
import type { ReportedCounts } from '../usage.ts'

/**
 * Reads `usage` of a result. From version 3 of the interface, input tokens are an object whose total includes those of the
 * cache. In version 2 they are a number that includes them, except from Anthropic's package, which reports the tokens
 * written to the cache in its metadata. 0 is a count, but packages also report it for what the vendor does not: a 0 of a
 * detail says nothing. Then the usage counts as the vendor sent it, where a package has it: that for chat completions never
 * reports tokens written to the cache.
 */
export function readPackageUsage(
  { inputTokens, outputTokens, ...more }: AiSdkUsage,
  metadata: unknown,
): ReportedCounts {
  const output = countOf(outputTokens) ?? countAt(outputTokens, 'total')
  const reasoning = countAt(outputTokens, 'reasoning') ?? countOf(more.reasoningTokens)
  const counts =
    typeof inputTokens === 'object' ? nestedInput(inputTokens, more.raw) : plainInput(inputTokens, more, metadata)
  const terms = readTerms(more.raw ?? at(metadata, 'anthropic', 'usage'), at(metadata, 'openai', 'serviceTier'))
  return { ...counts, outputTokens: output, reasoningTokens: reasoning || undefined, ...(terms && { terms }) }
}

export interface AiSdkUsage {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly reasoningTokens?: unknown
  readonly cachedInputTokens?: unknown
  /** From version 3 of the interface: the usage as the vendor sent it. */
  readonly raw?: unknown
}

type InputCounts = Pick<ReportedCounts, 'inputTokens' | 'cachedTokens' | 'cacheWriteTokens'>

function nestedInput(input: unknown, raw: unknown): InputCounts {
  const { cached, written } = readCacheUsage(raw) ?? {}
  return within(countAt(input, 'total'), countAt(input, 'cacheRead') || cached, countAt(input, 'cacheWrite') || written)
}

function plainInput(input: unknown, { cachedInputTokens }: AiSdkUsage, metadata: unknown): InputCounts {
  const cached = countOf(cachedInputTokens)
  const anthropic = at(metadata, 'anthropic')
  if (anthropic === undefined) return within(countOf(input), cached, undefined)
  const written = countAt(anthropic, 'cacheCreationInputTokens')
  return { inputTokens: countOf(input), cachedTokens: cached || undefined, cacheWriteTokens: written || undefined }
}

/** Each token of the prompt counts once, whatever the package says of the cache. */
function within(total: number | undefined, read = 0, written = 0): InputCounts {
  if (total === undefined) return { inputTokens: undefined }
  const cached = Math.min(read, total)
  const cacheWrite = Math.min(written, total - cached)
  return {
    inputTokens: total - cached - cacheWrite,
    cachedTokens: cached || undefined,
    cacheWriteTokens: cacheWrite || undefined,
  }
}

const countAt = (value: unknown, name: string): number | undefined => countOf(at(value, name))

const countOf = (value: unknown): number | undefined => (isCount(value) ? value : undefined)
