import type { Message, Prompt } from '../../../models/model.ts'
import { tagsOf } from '../../request.ts'
import { isFields, mustBe, withoutNeutral, withoutNullsIn } from '../body.ts'
import type { Dialect, DialectRequest } from '../dialect.ts'
import { chatFields, neutralIn } from '../field-rules.ts'
import { needsOf } from '../needs.ts'
import { readChatMessages } from './messages.ts'
import { completion, eventWriter } from './reply.ts'
import { checkChatRequest, checkSingleStop, type ChatRequest } from './schema.ts'
import { readReplyFormat, readTools } from './tools.ts'
import { openAiFormat } from '../openai.ts'
import { readVerbosity } from '../tool-fields.ts'

/** OpenAI's chat completions: `POST /v1/chat/completions`. */
const unsupported = neutralIn(chatFields)

export const openAiChat: Dialect = Object.freeze({
  ...openAiFormat,
  read(raw: unknown): DialectRequest {
    const kept = withoutNeutral(raw, unsupported)
    if (!isFields(kept)) return requestOf(checkChatRequest(kept), [])
    const messages = readChatMessages(kept['messages'])
    const body = withoutNullsIn(kept, ['metadata', 'stream_options'])
    const { stop } = body
    if (typeof stop !== 'string') return requestOf(checkChatRequest(body), messages)
    return requestOf(checkChatRequest({ ...body, stop: [checkSingleStop({ stop }).stop] }), messages)
  },
})

const promptFields = {
  messages: 'messages',
  format: 'response_format',
  reasoning: 'reasoning_effort',
  verbosity: 'verbosity',
}

function requestOf(body: ChatRequest, messages: readonly Message[]): DialectRequest {
  const newer = body.max_completion_tokens !== undefined
  if (newer && body.max_tokens !== undefined) throw mustBe('max_tokens', 'omitted if max_completion_tokens is set')
  const prompt = promptOf(body, messages)
  return {
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt,
      needs: needsOf(prompt, promptFields),
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      seed: body.seed,
      stop: body.stop,
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: newer ? 'max_completion_tokens' : 'max_tokens', input: 'messages' },
    },
    wholeBody: (reply) => JSON.stringify(completion(reply)),
    eventWriter: ({ id, model }) => eventWriter(id, model, body.stream_options?.include_usage === true),
  }
}

function promptOf(body: ChatRequest, messages: readonly Message[]): Prompt {
  const { response_format: format, reasoning_effort: effort, prompt_cache_key: cacheKey } = body
  const tools = readTools(body)
  const verbosity = readVerbosity(body.verbosity, 'verbosity')
  if (!tools && format === undefined && effort === undefined && cacheKey === undefined && !verbosity)
    return { messages }
  return {
    messages,
    ...tools,
    ...(format !== undefined && { format: readReplyFormat(format) }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(verbosity && { verbosity }),
    ...(cacheKey !== undefined && { cacheKey }),
  }
}
