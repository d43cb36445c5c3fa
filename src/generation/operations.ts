import { Type, type TSchema } from 'typebox'
import { answers, limitHeaders, needsKey, refusals, type Operation } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import { anthropicError, messagesRequest, messagesResponse } from './dialects/anthropic-messages.ts'
import { chatRequest, chatResponse } from './dialects/openai-chat.ts'
import { openAiError } from './dialects/openai-errors.ts'
import { responsesResponse } from './dialects/openai-response-events.ts'
import { responsesRequest } from './dialects/openai-responses.ts'
import * as schema from './schema.ts'

/** What the document says of each address of Area A. */
const always: readonly ProblemCode[] = [
  'malformed_request',
  'missing_key',
  'invalid_key',
  'expired_key',
  'revoked_key',
  'no_billing_account',
  'key_in_browser',
  'headers_too_large',
  'internal',
  'unavailable',
]

const withBody: readonly ProblemCode[] = [
  ...always,
  'malformed_json',
  'missing_field',
  'unknown_field',
  'invalid_field',
  'model_not_allowed',
  'unknown_model',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
  'rate_limit_exceeded',
  'overloaded',
]

const generating: readonly ProblemCode[] = [
  ...withBody,
  'context_length_exceeded',
  'can_never_fit_limit',
  'insufficient_credit',
  'idempotency_in_progress',
  'idempotency_mismatch',
  'upstream_failed',
  'upstream_timeout',
]

const text = (description: string) => Type.String({ description })
const modelHeader = { 'x-model': text('The id of the model that did the work; it differs from an alias.') }

/** What the addresses that generate have in common. */
const generates = {
  tags: ['Generation'],
  ...needsKey,
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,255}$',
        description:
          'For 24 hours the same key with the same body gets the stored answer again, and is not charged again.',
      }),
    ),
  }),
}

const replyHeaders = {
  ...modelHeader,
  'x-cost': text("What the call cost, as a decimal in the account's currency. Not on a stream, which begins before."),
  'x-generation-id': text('The id of the reply: that of its row in the ledger, also on a stored answer.'),
  'idempotent-replayed': text('`true` on an answer that was stored for the Idempotency-Key; it was free.'),
  ...limitHeaders,
}

export const generate: Operation<typeof schema.generateRequest> = {
  operationId: 'generate',
  summary: 'Generate text',
  description:
    'Generates a reply to the input and charges the tokens in both directions. A refusal is never charged.\n\n' +
    'With `stream` the answer is `text/event-stream`: events `output_text.delta` with `{"delta"}`, then either one ' +
    '`done` with the fields of the answer below, or one `error` with the body of a refusal, when what was sent by then ' +
    'is charged. What goes wrong before the first text is an ordinary refusal. A comment `: ping` comes every 15 ' +
    'seconds.',
  ...generates,
  body: schema.generateRequest,
  response: {
    200: answers(schema.generateResponse, 'The reply. It is charged.', replyHeaders),
    ...refusals(generating),
  },
}

/** The refusals of an API that has a shape of its own for them. */
function refusalsAs(body: TSchema, codes = generating): Record<number, TSchema> {
  const ours = Object.entries(refusals(codes))
  return Object.fromEntries(
    ours.map(([status, { description, headers }]: [string, Described]) => [status, { ...body, description, headers }]),
  )
}
type Described = TSchema & { readonly description?: string; readonly headers?: unknown }

const compatible =
  'The keys, the limits, the charges and Idempotency-Key are those of POST /v1/generate. Only text is served: a field ' +
  'that asks for anything else is refused by its name. docs/clients.md says what differs.'

export const chatCompletions: Operation<typeof chatRequest> = {
  operationId: 'createChatCompletion',
  summary: "Generate text, as OpenAI's chat completions",
  description: `For clients of OpenAI's chat completions. ${compatible}`,
  ...generates,
  body: chatRequest,
  response: {
    200: answers(chatResponse, 'The reply. It is charged.', replyHeaders),
    ...refusalsAs(openAiError),
  },
}

export const responses: Operation<typeof responsesRequest> = {
  operationId: 'createResponse',
  summary: "Generate text, as OpenAI's responses",
  description: `For clients of OpenAI's responses. Nothing of a response is stored. ${compatible}`,
  ...generates,
  body: responsesRequest,
  response: {
    200: answers(responsesResponse, 'The reply. It is charged.', replyHeaders),
    ...refusalsAs(openAiError),
  },
}

export const messages: Operation<typeof messagesRequest> = {
  operationId: 'createMessage',
  summary: "Generate text, as Anthropic's messages",
  description: `For clients of Anthropic's messages; the key may also come in the header x-api-key. ${compatible}`,
  ...generates,
  body: messagesRequest,
  response: {
    200: answers(messagesResponse, 'The reply. It is charged.', replyHeaders),
    ...refusalsAs(anthropicError),
  },
}

export const countTokens: Operation<typeof schema.generateRequest> = {
  operationId: 'countTokens',
  summary: 'Count tokens',
  description: 'What the same body would count and could cost. Free; takes one request from the limit.',
  tags: ['Generation'],
  ...needsKey,
  body: schema.generateRequest,
  response: {
    200: answers(schema.countResponse, 'The count.', { ...modelHeader, ...limitHeaders }),
    ...refusals(withBody),
  },
}

export const listModels = {
  operationId: 'listModels',
  summary: 'List models',
  description:
    'The models that the key may use. The key may also come in the header x-api-key. Who sends the header ' +
    "anthropic-version is refused in the shape of Anthropic's API.",
  tags: ['Models'],
  ...needsKey,
  response: { 200: answers(schema.modelsResponse, 'The models.', limitHeaders), ...refusals(always) },
}

export const retrieveModel = {
  operationId: 'retrieveModel',
  summary: 'Show one model',
  description:
    "For the clients of OpenAI and Anthropic: refusals have the shape of OpenAI's API, and that of Anthropic's for who " +
    'sends the header anthropic-version. The key may also come in the header x-api-key.',
  tags: ['Models'],
  ...needsKey,
  params: Type.Object({ id: text('An id or an alias of a model that the key may use.') }),
  response: {
    200: answers(schema.listedModel, 'The model, by its id.', limitHeaders),
    ...refusalsAs(openAiError, [...always, 'unknown_model', 'model_not_allowed']),
  },
}
