import { Type } from 'typebox'
import type { FilePart, TokenLogprob } from '../../models/conversation.ts'
import { metadata, sampling } from '../schema.ts'
import { mustBe, type Fields } from './body.ts'
import type { ErrorDetails } from './dialect.ts'
import { readDataUrl } from './files.ts'
import { checkedText } from './messages.ts'

/** The fields that the bodies of chat completions and of responses have in common. */
export const openAiFields = {
  temperature: sampling.temperature,
  top_p: sampling.top_p,
  stream: Type.Optional(Type.Boolean({ description: 'Stream the reply as server-sent events.' })),
  user: Type.Optional(Type.String({ maxLength: 512, description: 'Your identifier of the end user. Ignored.' })),
  metadata: Type.Optional(metadata),
  parallel_tool_calls: Type.Optional(
    Type.Boolean({ description: "Whether a reply may contain several tool calls. Default: the model's." }),
  ),
  prompt_cache_key: Type.Optional(
    Type.String({
      format: 'text',
      maxLength: 1024,
      description: 'Requests with the same key are likely to share the beginning of their prompts.',
    }),
  ),
}

/** Which fields ask for log probabilities differs. */
export const topLogprobs = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 20,
    description:
      'How many of the most likely tokens to return with each token, with their log probabilities. Only for models whose upstream takes it. A reply has at most 1 000 000 log probabilities, which bounds its tokens.',
  }),
)

const logprob = {
  token: Type.String(),
  logprob: Type.Number({ description: 'The natural logarithm of the probability of the token.' }),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()], {
    description: 'The bytes of its text, if the vendor sends them: a token may be a part of a character.',
  }),
}

export const logprobsSchema = Type.Array(
  Type.Object({ ...logprob, top_logprobs: Type.Array(Type.Object(logprob), { description: 'As many as asked for.' }) }),
)

/** The log probabilities of tokens, as both APIs write them. */
export const writtenLogprobs = (logprobs: readonly TokenLogprob[]): readonly object[] =>
  logprobs.map(({ top: top_logprobs, ...token }) => ({ ...token, top_logprobs }))

export const verbosity = Type.Optional(
  Type.Enum(['low', 'medium', 'high'], { description: 'How much the model should write. Default medium.' }),
)

/** The image in a field of both APIs, whose URL is `field`. Throws Problem `invalid_field`. */
export function readImageUrl(url: unknown, field: string, detail: unknown, place: string): FilePart {
  if (detail !== undefined && detail !== 'low' && detail !== 'high' && detail !== 'auto') {
    throw mustBe(`${place}.detail`, 'low, high or auto')
  }
  return { ...readDataUrl(url, field, 'image'), ...(detail && { detail }) }
}

/** The document in a field of both APIs. Throws Problem `invalid_field`. */
export function readFileData({ filename, file_data: data }: Fields, place: string): FilePart {
  if (filename !== undefined && typeof filename !== 'string') throw mustBe(`${place}.filename`, 'a text')
  const name = filename === undefined ? {} : { name: checkedText(filename, `${place}.filename`) }
  return { ...readDataUrl(data, `${place}.file_data`, 'document'), ...name }
}

/** Refuses files that OpenAI would keep or fetch. `instead` is the field to send. Throws Problem `invalid_field`. */
export function refuseElsewhere(fields: Fields, instead: string, place: string): void {
  if (fields['file_id'] !== undefined) {
    throw mustBe(`${place}.file_id`, `omitted: no files are stored here. Send ${instead}`)
  }
  if (fields['file_url'] !== undefined) {
    throw mustBe(`${place}.file_url`, `omitted: nothing is fetched from URLs here. Send ${instead}`)
  }
}

/** The body of an error of OpenAI's API. */
export const openAiError = Type.Object({
  error: Type.Object({
    message: Type.String({ description: 'For people: what is wrong and what to do.' }),
    type: Type.String(),
    param: Type.Union([Type.String(), Type.Null()], { description: 'The field at fault.' }),
    code: Type.String({ description: 'The code of the error.' }),
  }),
})

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

/** Our codes for which OpenAI has a different code. */
const errorCodes: Readonly<Record<string, string>> = {
  missing_key: 'invalid_api_key',
  invalid_key: 'invalid_api_key',
  unknown_model: 'model_not_found',
}

export function openAiErrorOf({ code, reason, field }: ErrorDetails, status: number) {
  const type = errorTypes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error')
  return { message: reason, type, param: field ?? null, code: errorCodes[code] ?? code }
}

/** The error format of both OpenAI APIs. */
export const openAiFormat = {
  api: 'openai' as const,
  errorBody: (details: ErrorDetails, status: number) => ({ error: openAiErrorOf(details, status) }),
  headers: (requestId: string) => ({ 'x-request-id': requestId }),
}
