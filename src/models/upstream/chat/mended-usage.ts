import { at, isCount, isJsonObject, type Json } from '../../../platform/text/json.ts'
import { writtenTerms } from '../reported-terms.ts'
import { firstChoice } from './chat-completions.ts'
import { countsOf, laterUsage, readUsageOf, type ChatUsage } from './chat-usage.ts'

/**
 * Provider packages refuse a whole reply for a count that is no count, and look for the usage in one place only. So they get it mended:
 * that of chat completions from wherever the server puts it, and that of other APIs without what is no count.
 */
export interface UsageMender {
  /** A body, or an event of a stream; the same text if there is nothing to mend. The events of one stream go to one mender, in order. */
  readonly mend: (text: string) => string
}

/** A number that no server reports, for a field that a package requires: reading it as a count makes it a missing one. */
const missing = 0.5

export function createUsageMender(): UsageMender {
  let usage: ChatUsage | undefined

  function mendChat(body: Json, choices: readonly unknown[]): Json {
    const reported = readUsageOf(body, firstChoice(choices.filter(isJsonObject)))
    if (reported) usage = laterUsage(usage, reported)
    return { ...body, choices, usage: reported && usage && packageUsage(usage) }
  }

  return {
    mend(text) {
      // Most events of a stream have nothing of these.
      if (!/"(?:usage|usageMetadata|message|message_delta)"/.test(text)) return text
      const body = parsed(text)
      if (!isJsonObject(body)) return text
      // Some servers send the usage of a stream in an event without any.
      const isChat = 'choices' in body || at(body, 'usage', 'prompt_tokens') !== undefined
      const choices = body['choices'] ?? (isChat ? [] : undefined)
      return JSON.stringify(Array.isArray(choices) ? mendChat(body, choices) : mendOther(body))
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As OpenAI sends it. */
function packageUsage(usage: ChatUsage): object {
  const { inputTokens, outputTokens = missing, cachedTokens, cacheWriteTokens, reasoningTokens } = countsOf(usage)
  const prompt = inputTokens === undefined ? missing : inputTokens + (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
  return {
    prompt_tokens: prompt,
    completion_tokens: outputTokens,
    total_tokens: prompt + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    ...(usage.terms && writtenTerms(usage.terms)),
  }
}

/** In Anthropic's messages, OpenAI's responses and Google's replies. */
function mendOther(body: Json): Json {
  switch (body['type']) {
    case 'message':
      return withUsage(body, ['input_tokens', 'output_tokens'])
    case 'message_delta':
      return withUsage(body, ['output_tokens'])
    case 'message_start':
      return within(body, 'message')
    default:
      if (isJsonObject(body['response'])) return within(body, 'response')
      if (isJsonObject(body['usageMetadata'])) return { ...body, usageMetadata: withCounts(body['usageMetadata'], []) }
      return hasUsage(body) ? withUsage(body, ['input_tokens', 'output_tokens']) : body
  }
}

const hasUsage = ({ usage }: Json): boolean => usage !== undefined && usage !== null

function within(body: Json, name: 'message' | 'response'): Json {
  const inner = body[name]
  if (!isJsonObject(inner) || (name === 'response' && !hasUsage(inner))) return body
  return { ...body, [name]: withUsage(inner, ['input_tokens', 'output_tokens']) }
}

function withUsage(body: Json, required: readonly string[]): Json {
  const { usage } = body
  return { ...body, usage: withCounts(isJsonObject(usage) ? usage : {}, required) }
}

/** Only with counts, and with something in place of those that the package requires. */
function withCounts(usage: Json, required: readonly string[]): Json {
  const counts = Object.entries(usage).map(([name, value]): [string, unknown] => {
    if (isJsonObject(value)) return [name, withCounts(value, [])]
    return [name, !/token/i.test(name) || Array.isArray(value) || isCount(value) ? value : undefined]
  })
  const mended: Json = Object.fromEntries(counts)
  return { ...mended, ...Object.fromEntries(required.map((name) => [name, mended[name] ?? missing])) }
}
