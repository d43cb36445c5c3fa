import type { Message, Prompt } from '../../../models/model.ts'
import { tagsOf, type TextRequest } from '../../request.ts'
import { isFields, mustBe, withoutNeutral, withoutNullsIn, type Fields } from '../body.ts'
import { nothingMore, type Dialect, type DialectRequest } from '../dialect.ts'
import { chatFields, neutralIn } from '../field-rules.ts'
import { prefillIn } from '../messages.ts'
import { needsOf } from '../needs.ts'
import { readChatMessages } from './messages.ts'
import { readReasoningSettings } from './reasoning.ts'
import { completion, eventWriter } from './reply.ts'
import { chatRequest, checkChatRequest, checkSingleStop, type ChatRequest } from './schema.ts'
import { customNamesIn } from './custom-tools.ts'
import { isResponsesBody, readResponsesBody } from './responses-body.ts'
import { readReplyFormat, readTools } from './tools.ts'
import { openAiFormat } from '../openai.ts'
import { readVerbosity } from '../tool-fields.ts'
import { chatVendorFields, takePermitted, vendorFieldsOf } from '../vendor-fields.ts'

/** OpenAI's chat completions: `POST /v1/chat/completions`. */
const unsupported = neutralIn(chatFields)

const vendorFields = Object.keys(chatVendorFields)

export const openAiChat: Dialect = Object.freeze({
  ...openAiFormat,
  read(raw: unknown, permitted = nothingMore): DialectRequest {
    if (isResponsesBody(raw)) return readResponsesBody(raw, permitted)
    const { rest, permitted: more } = takePermitted(raw, permitted, chatRequest.properties)
    const kept = withoutNeutral(rest, unsupported)
    if (!isFields(kept)) return requestOf(checkChatRequest(kept), [], more)
    const messages = readChatMessages(kept['messages'], customNamesIn(kept['tools']))
    const body = withoutNullsIn(kept, ['metadata', 'stream_options', 'reasoning'])
    const { stop } = body
    if (typeof stop !== 'string') return requestOf(checkChatRequest(body), messages, more)
    return requestOf(checkChatRequest({ ...body, stop: [checkSingleStop({ stop }).stop] }), messages, more)
  },
})

const promptFields = {
  messages: 'messages',
  format: 'response_format',
  reasoning: 'reasoning_effort',
  verbosity: 'verbosity',
}
const openRouterFields = { ...promptFields, reasoning: 'reasoning' }

function requestOf(body: ChatRequest, messages: readonly Message[], more: Fields): DialectRequest {
  const newer = body.max_completion_tokens !== undefined
  if (newer && body.max_tokens !== undefined) throw mustBe('max_tokens', 'omitted if max_completion_tokens is set')
  const prompt = promptOf(body, messages, more)
  const maxOutputTokens = newer ? 'max_completion_tokens' : 'max_tokens'
  const choices = body.n === 1 ? undefined : body.n
  const omitsReasoning = body.reasoning?.exclude ?? body.include_reasoning === false
  const customTools = customNamesIn(body.tools)
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt,
      needs: needsOf(prompt, body.reasoning_effort === undefined ? openRouterFields : promptFields),
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      seed: body.seed,
      stop: body.stop,
      logprobs: readLogprobs(body),
      choices,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens, input: 'messages', ...(choices && { reducible: `${maxOutputTokens} or n` }) },
    },
    wholeBody: (reply) => JSON.stringify(completion(reply, { omitsReasoning, customTools })),
    eventWriter: ({ id, model }) => {
      const withUsage = body.stream_options?.include_usage === true
      return eventWriter(id, model, { withUsage, omitsReasoning, choices, customTools })
    },
  }
}

function readLogprobs({ logprobs, top_logprobs: top = 0 }: ChatRequest): TextRequest['logprobs'] {
  if (logprobs) return { top, field: 'logprobs' }
  if (top > 0) throw mustBe('top_logprobs', 'omitted unless logprobs is true')
  return undefined
}

function promptOf(body: ChatRequest, messages: readonly Message[], more: Fields): Prompt {
  const { response_format: format, prompt_cache_key: cacheKey } = body
  const tools = readTools(body)
  const verbosity = readVerbosity(body.verbosity, 'verbosity')
  const reasoning = readReasoningSettings(body)
  const vendor = vendorFieldsOf(body, vendorFields, more)
  const { prefill } = prefillIn(messages, body.messages.length)
  const isPlain = !tools && format === undefined && !reasoning && cacheKey === undefined && !verbosity
  if (isPlain && prefill === undefined && !vendor.vendorFields) return { messages }
  return {
    messages,
    ...tools,
    ...(format !== undefined && { format: readReplyFormat(format) }),
    ...(reasoning && { reasoning }),
    ...(verbosity && { verbosity }),
    ...(cacheKey !== undefined && { cacheKey }),
    ...(prefill !== undefined && { prefill }),
    ...vendor,
  }
}
