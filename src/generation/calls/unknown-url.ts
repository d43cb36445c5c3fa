import type { FastifyRequest } from 'fastify'
import { anthropicMessages } from '../dialects/anthropic/anthropic-messages.ts'
import type { WireFormat } from '../dialects/dialect.ts'
import { openAiFormat } from '../dialects/openai-errors.ts'

/** The first segments, below `/v1`, of OpenAI's endpoints. */
const openAi =
  /^\/v1\/(?:assistants|audio|batches|chat|completions|containers|conversations|embeddings|evals|files|fine_tuning|images|models|moderations|realtime|responses|threads|uploads|vector_stores|videos)(?:[/?]|$)/

const anthropic = /^\/v1\/(?:complete|messages|organizations|skills)(?:[/?]|$)/

/** The error format for a URL that no route serves: that of the API whose client sent the request. */
export function formatOfUnknownUrl({ url, headers }: FastifyRequest): WireFormat | undefined {
  if (!url.startsWith('/v1/')) return undefined
  if (headers['anthropic-version'] !== undefined || anthropic.test(url)) return anthropicMessages
  const isOpenAiClient = headers['user-agent']?.includes('OpenAI/') === true
  return isOpenAiClient || openAi.test(url) ? openAiFormat : undefined
}

/** Endpoints of other APIs as clients call them whose base URL lacks `/v1`. */
const withoutVersion = /^\/(?:chat\/completions|responses|embeddings)(?=\?|$)/

/** What to do instead of calling a URL that clients of other APIs call: an older one, or one below a wrong base URL. */
export function hintForUnknownUrl(url: string): string | undefined {
  if (/^\/v1\/completions(?:\?|$)/.test(url)) {
    return 'Call POST /v1/chat/completions instead: send the prompt as a message of the user.'
  }
  const [called] = withoutVersion.exec(url) ?? []
  if (called !== undefined) return `Call /v1${called} instead: the base URL of this client must end with /v1.`
  return url.startsWith('/v1/v1/') ? 'Remove /v1 from the end of the base URL: this client adds it.' : undefined
}
