import type { Level, Levels } from '../../../billing/till/till.ts'
import type { Prompt } from '../../../models/conversation.ts'
import { tagsOf, type TextRequest } from '../../request.ts'
import { readAnthropicMessages, readSystem } from './content.ts'
import { anthropicErrorOf, messageEvents, wholeMessage } from './reply.ts'
import { checkCount, checkMessages, messagesRequest, type CountedRequest } from './schema.ts'
import { omitsReasoning, readAnthropicTools, readOutput, readThinking } from './tools.ts'
import { isFields, withoutNeutral, withoutNullsIn, type Fields } from '../body.ts'
import { prefillIn, readCacheMark } from '../messages.ts'
import { nothingMore, type Dialect, type DialectRequest, type Permissions } from '../dialect.ts'
import { messagesFields, neutralIn } from '../field-rules.ts'
import { needsOf } from '../needs.ts'
import { messagesVendorFields, takePermitted, vendorFieldsOf } from '../vendor-fields.ts'

/** Anthropic's messages: `POST /v1/messages`. */
const unsupported = neutralIn(messagesFields)

const vendorFields = Object.keys(messagesVendorFields)

export const anthropicMessages: Dialect = Object.freeze({
  api: 'anthropic',
  read: (raw: unknown, permitted = nothingMore) => readRequest(raw, permitted, checkMessages),
  errorBody: anthropicErrorOf,
  limitHeaders: ({ requests, tokens }: Levels) => ({
    ...levelHeaders('requests', requests),
    ...levelHeaders('tokens', tokens),
  }),
})

/** Reads the body of `POST /v1/messages/count_tokens`. Throws a Problem for its first fault. */
export const readCountRequest = (raw: unknown, permitted = nothingMore): TextRequest =>
  readRequest(raw, permitted, checkCount).request

function readRequest(
  raw: unknown,
  permitted: Permissions,
  checkBody: (body: unknown) => CountedRequest,
): DialectRequest {
  const { rest, permitted: more } = takePermitted(raw, permitted, messagesRequest.properties)
  const kept = withoutNeutral(rest, unsupported)
  const body = checkBody(isFields(kept) ? withoutNullsIn(kept, ['metadata']) : kept)
  const asked = { stops: body.stop_sequences ?? [], omitsReasoning: omitsReasoning(body.thinking) }
  const prompt = promptOf(body, more, permitted)
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt,
      needs: needsOf(prompt, namesIn(body)),
      maxOutputTokens: body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      stop: body.stop_sequences,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: 'max_tokens', input: 'messages' },
    },
    wholeBody: (reply) => wholeMessage(reply, asked),
    eventWriter: (start) => messageEvents(start, asked),
  }
}

/** The fields that ask for what not every model has. */
const namesIn = (body: CountedRequest) => ({
  messages: 'messages',
  format: body.output_format === undefined ? 'output_config.format' : 'output_format',
  reasoning: body.thinking === undefined ? 'output_config.effort' : 'thinking',
  // The vendor's documents say so, and Claude Code sends it to every model that it does not know.
  defaultEffort: 'high' as const,
})

function promptOf(body: CountedRequest, more: Fields, permitted: Permissions): Prompt {
  const cache = readCacheMark(body.cache_control, 'cache_control')
  const { effort, format } = readOutput(body.output_config, body.output_format)
  const reasoning = readThinking(body.thinking, effort, body.max_tokens)
  const messages = readAnthropicMessages(body.messages, cache)
  return {
    messages: [...readSystem(body.system), ...messages],
    ...prefillIn(messages, body.messages.length),
    ...readAnthropicTools(body.tools, body.tool_choice, permitted),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...vendorFieldsOf(body, vendorFields, more),
  }
}

function levelHeaders(what: string, { limit, remaining, resetSeconds }: Level): Record<string, string> {
  return {
    [`anthropic-ratelimit-${what}-limit`]: String(limit),
    [`anthropic-ratelimit-${what}-remaining`]: String(remaining),
    [`anthropic-ratelimit-${what}-reset`]: new Date(Date.now() + resetSeconds * 1000).toISOString(),
  }
}
