import type { Prompt, Tool } from '../../../models/conversation.ts'
import { tagsOf, type TextRequest } from '../../request.ts'
import { isFields, mustBe, withoutNeutral, withoutNullsIn, type Fields } from '../body.ts'
import { nothingMore, type Dialect, type DialectRequest, type Permissions } from '../dialect.ts'
import { neutralIn, responsesFields } from '../field-rules.ts'
import { needsOf } from '../needs.ts'
import { openAiFormat } from '../openai.ts'
import { responseEvents } from './events.ts'
import { readResponseInput, type ResponseInput } from './input.ts'
import { responseObject, type RequestedResponse } from './object.ts'
import { responsesVendorFields, takePermitted, vendorFieldsOf } from '../vendor-fields.ts'
import {
  checkResponsesRequest,
  checkTextInput,
  includedLogprobs,
  responsesRequest,
  type ResponsesRequest,
} from './schema.ts'
import { readTextSettings, readToolChoice, readTools, type SearchSettings } from './tools.ts'

/** OpenAI's responses: `POST /v1/responses`. Responses are not stored, so none can be continued by its id. */
const unsupported = neutralIn(responsesFields)

const vendorFields = Object.keys(responsesVendorFields)

const unsupportedReasoning = neutralIn(responsesFields, 'reasoning.')

export const openAiResponses: Dialect = Object.freeze({
  ...openAiFormat,
  read(raw: unknown, permitted = nothingMore): DialectRequest {
    const { request, repeated } = readResponsesRequest(raw, permitted)
    return {
      request,
      wholeBody: (reply) => JSON.stringify(responseObject(repeated, reply, reply)),
      eventWriter: (start) => responseEvents(repeated, start),
    }
  },
})

/** A request for a response, and what its response repeats of it. */
interface ReadRequest {
  readonly request: TextRequest
  readonly repeated: RequestedResponse
}

/** Throws a Problem for the first fault. */
export function readResponsesRequest(raw: unknown, permitted: Permissions): ReadRequest {
  const { rest, permitted: more } = takePermitted(raw, permitted, responsesRequest.properties)
  const kept = withoutNeutral(rest, unsupported)
  const settings = { permitted, maxUses: isFields(raw) ? raw['max_tool_calls'] : undefined }
  if (!isFields(kept)) return requestOf(checkResponsesRequest(kept), { messages: [], tools: [] }, more, settings)
  const input = inputOf(kept)
  const read = readResponseInput(input)
  const body = { ...withoutNulls(kept), ...(input !== undefined && { input }) }
  return requestOf(checkResponsesRequest(body), read, more, settings)
}

function inputOf({ input }: Fields): unknown {
  return typeof input === 'string' ? [{ role: 'user', content: checkTextInput({ input }).input }] : input
}

function withoutNulls(body: Fields): Fields {
  const { reasoning, ...kept } = withoutNullsIn(body, ['metadata'])
  if (reasoning === undefined) return kept
  return { ...kept, reasoning: withoutNeutral(reasoning, unsupportedReasoning, 'reasoning.') }
}

const promptFields = {
  messages: 'input',
  format: 'text.format',
  reasoning: 'reasoning',
  verbosity: 'text.verbosity',
}

function requestOf(
  body: ResponsesRequest,
  { messages: conversation, tools: added }: ResponseInput,
  more: Fields,
  searching: SearchSettings,
): ReadRequest {
  const { instructions } = body
  const messages = instructions ? [{ role: 'system', text: instructions } as const, ...conversation] : conversation
  const tools = readTools(body.tools, body.tool_choice, added, searching)
  const settings = { ...promptOf(body, tools.tools, more), ...(tools.search && { search: tools.search }) }
  const prompt = { messages, ...settings }
  return {
    repeated: { body, prompt: settings, tools },
    request: {
      model: body.model,
      stream: body.stream === true,
      prompt,
      needs: needsOf(prompt, promptFields),
      maxOutputTokens: body.max_output_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      logprobs: readLogprobs(body),
      clientId: body.metadata?.client_id,
      tags: tagsOf(body.metadata),
      names: { maxOutputTokens: 'max_output_tokens', input: 'input' },
    },
  }
}

function readLogprobs({ include, top_logprobs: top = 0 }: ResponsesRequest): TextRequest['logprobs'] {
  if (include?.includes(includedLogprobs)) return { top, field: 'include' }
  if (top > 0) throw mustBe('top_logprobs', `omitted unless include has ${includedLogprobs}`)
  return undefined
}

function promptOf(body: ResponsesRequest, tools: readonly Tool[], more: Fields): Omit<Prompt, 'messages'> {
  const toolChoice = readToolChoice(body.tool_choice, tools)
  const { parallel_tool_calls: parallelCalls, prompt_cache_key: cacheKey, text } = body
  const { format, verbosity } = text === undefined ? {} : readTextSettings(text)
  const reasoning = body.reasoning && readSettings(body.reasoning)
  return {
    ...(tools.length > 0 && { tools, ...(toolChoice && { toolChoice }) }),
    ...(tools.length > 0 && parallelCalls !== undefined && { parallelCalls }),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(verbosity && { verbosity }),
    ...(cacheKey !== undefined && { cacheKey }),
    ...vendorFieldsOf(body, vendorFields, more),
  }
}

/** Undefined if it has no effect. */
function readSettings({
  effort,
  generate_summary: former,
  summary = former,
}: NonNullable<ResponsesRequest['reasoning']>): Prompt['reasoning'] {
  if (effort === undefined && summary === undefined) return undefined
  return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) }
}
