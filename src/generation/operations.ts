import { Type, type TSchema } from 'typebox'
import {
  answers,
  answersOrStreams,
  sharedBudgetHeaders,
  rateLimitHeaders,
  needsKey,
  refusals,
  refusalsOfBody,
  type Operation,
} from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import {
  anthropicError,
  countTokensRequest,
  countTokensResponse,
  messagesRequest,
  messagesResponse,
} from './dialects/anthropic/schema.ts'
import { chatRequest, chatResponse } from './dialects/openai-chat/schema.ts'
import { embeddingsRequest, embeddingsResponse } from './dialects/embeddings/openai-embeddings.ts'
import { openAiError } from './dialects/openai.ts'
import { responsesRequest, responsesResponse } from './dialects/openai-responses/schema.ts'
import { chatExample, generateExample, messagesExample, responsesExample } from './examples.ts'
import * as samples from './samples.ts'
import * as schema from './schema.ts'

/** The operations of Area A, for the OpenAPI document. */
export const refusalsOfCallers: readonly ProblemCode[] = [
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
  ...refusalsOfCallers,
  ...refusalsOfBody,
  'model_not_allowed',
  'unknown_model',
  'request_timeout',
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

const stored: readonly ProblemCode[] = ['idempotency_in_progress', 'idempotency_mismatch']
const embedding = generating.filter((code) => !stored.includes(code))

const text = (description: string) => Type.String({ description })
const modelHeader = { 'x-model': text('The id of the model that generated the reply.') }

/** Common to the operations that generate. */
const generates = {
  tags: ['Generation'],
  ...needsKey,
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,255}$',
        description:
          'Makes retries safe: for 24 hours, a request with the same key and body receives the stored reply, free of ' +
          'charge. While the first one runs, it gets 409 `idempotency_in_progress`. The same key with another body gets ' +
          '422 `idempotency_mismatch`. The first request runs to its end even if its caller disconnects.',
      }),
    ),
  }),
}

const replyHeaders = {
  ...modelHeader,
  'x-cost': text("The cost, as a decimal in the account's currency. Not sent with a stream or a replay."),
  'x-generation-id': text('The id of the ledger row that charged the reply; the same in a replay.'),
  'idempotent-replayed': text('`true` if this is the stored reply of an earlier request; it is free of charge.'),
  'x-original-request-id': text('In a replay: the request-id of the request that was charged.'),
  ...rateLimitHeaders,
  ...sharedBudgetHeaders,
}

export const generateText: Operation<typeof schema.generateRequest> = {
  operationId: 'generate',
  summary: 'Generate text',
  description:
    'Generates a reply to the input and charges its input and output tokens. An error response is never charged.\n\n' +
    'With `stream` the response is `text/event-stream`: events `output_text.delta` with `{"delta"}`, then one `done` ' +
    'with the fields of the whole reply. If the stream fails, its last event is `error` with the body of an error ' +
    'response and the `usage` and `cost` that were charged for the text sent so far. A failure before the first text ' +
    'is an ordinary error response. A comment `: ping` is sent every 15 seconds.',
  ...generates,
  body: schema.generateRequest,
  response: {
    200: answersOrStreams(
      schema.generateResponse,
      'The reply.',
      {
        description:
          'Any number of `output_text.delta` with `{delta}`, then one `done` with the fields of the JSON reply, or one `error` with the fields of an error.',
        example: generateExample.events,
      },
      replyHeaders,
    ),
    ...refusals(generating),
  },
}

/** The errors of an API with its own error format. */
export function refusalsAs(body: TSchema, codes = generating): Record<number, TSchema> {
  const ours = Object.entries(refusals(codes))
  return Object.fromEntries(
    ours.map(([status, { description, headers }]: [string, Described]) => [status, { ...body, description, headers }]),
  )
}
type Described = TSchema & { readonly description?: string; readonly headers?: unknown }

/** The errors of a URL that two APIs share: with the header anthropic-version they are Anthropic's. */
function orAnthropic(errors: Record<number, TSchema>): Record<number, TSchema> {
  return Object.fromEntries(
    Object.entries(errors).map(([status, { description, headers, ...body }]: [string, Described]) => [
      status,
      { anyOf: [body, anthropicError], description, headers },
    ]),
  )
}

const compatible =
  'Keys, limits, charges and Idempotency-Key work as for POST /v1/generate. Unsupported fields ' +
  'are refused by name. `/docs/clients` lists the differences.'

export const chatCompletions: Operation<typeof chatRequest> = {
  operationId: 'createChatCompletion',
  summary: "Generate text (OpenAI's chat completions)",
  description: `For clients of OpenAI's chat completions. ${compatible}`,
  ...samples.chatSamples,
  ...generates,
  body: chatRequest,
  response: {
    200: answersOrStreams(
      chatResponse,
      'The reply.',
      {
        description: 'Chunks of type `chat.completion.chunk`, then `[DONE]`. A stream that fails ends with an error.',
        example: chatExample.events,
      },
      replyHeaders,
    ),
    ...refusalsAs(openAiError),
  },
}

export const responses: Operation<typeof responsesRequest> = {
  operationId: 'createResponse',
  summary: "Generate text (OpenAI's responses)",
  description: `For clients of OpenAI's responses. Responses are not stored. ${compatible}`,
  ...samples.responsesSamples,
  ...generates,
  body: responsesRequest,
  response: {
    200: answersOrStreams(
      responsesResponse,
      'The reply.',
      {
        description:
          '`response.created` to `response.completed` or `response.incomplete`. A stream that fails ends with `error`.',
        example: responsesExample.events,
      },
      replyHeaders,
    ),
    ...refusalsAs(openAiError),
  },
}

export const messages: Operation<typeof messagesRequest> = {
  operationId: 'createMessage',
  summary: "Generate text (Anthropic's messages)",
  description: `For clients of Anthropic's messages; the key may also be sent in the header x-api-key. ${compatible}`,
  ...samples.messagesSamples,
  ...generates,
  body: messagesRequest,
  response: {
    200: answersOrStreams(
      messagesResponse,
      'The reply.',
      {
        description: '`message_start` to `message_stop`. A stream that fails ends with `error`.',
        example: messagesExample.events,
      },
      replyHeaders,
    ),
    ...refusalsAs(anthropicError),
  },
}

export const embeddings: Operation<typeof embeddingsRequest> = {
  operationId: 'createEmbedding',
  summary: "Create embeddings (OpenAI's embeddings)",
  description:
    "For clients of OpenAI's embeddings. The model must be an embedding model. Keys and limits work as for " +
    'POST /v1/generate; only input tokens are charged. Embeddings are not stored: an Idempotency-Key is refused.',
  tags: ['Generation'],
  ...samples.embeddingsSamples,
  ...needsKey,
  body: embeddingsRequest,
  response: {
    200: answers(embeddingsResponse, 'The embeddings.', {
      ...modelHeader,
      'x-cost': replyHeaders['x-cost'],
      'x-generation-id': replyHeaders['x-generation-id'],
      ...rateLimitHeaders,
      ...sharedBudgetHeaders,
    }),
    ...refusalsAs(openAiError, embedding),
  },
}

export const countTokens: Operation<typeof schema.generateRequest> = {
  operationId: 'countTokens',
  summary: 'Count tokens',
  description:
    'The input tokens of the same body, and its maximum cost. Free of charge; counts as one request against the limit.',
  tags: ['Generation'],
  ...needsKey,
  body: schema.generateRequest,
  response: {
    200: answers(schema.countResponse, 'The count.', { ...modelHeader, ...rateLimitHeaders, ...sharedBudgetHeaders }),
    ...refusals(withBody),
  },
}

export const countMessageTokens: Operation<typeof countTokensRequest> = {
  operationId: 'countMessageTokens',
  summary: "Count tokens (Anthropic's messages)",
  description: "For clients of Anthropic's messages. Free of charge; counts as one request against the limit.",
  tags: ['Generation'],
  ...samples.countMessagesSamples,
  ...needsKey,
  body: countTokensRequest,
  response: {
    200: answers(countTokensResponse, 'The count.', { ...modelHeader, ...rateLimitHeaders, ...sharedBudgetHeaders }),
    ...refusalsAs(anthropicError, withBody),
  },
}

export const listModels = {
  operationId: 'listModels',
  summary: 'List models',
  description:
    'The models that the key may use. The key may also be sent in the header x-api-key. With the header ' +
    "anthropic-version, errors have the format of Anthropic's API.",
  tags: ['Models'],
  ...samples.modelsSamples,
  ...needsKey,
  response: {
    200: answers(schema.modelsResponse, 'The models.', rateLimitHeaders),
    ...orAnthropic(refusals(refusalsOfCallers)),
  },
}

export const retrieveModel = {
  operationId: 'retrieveModel',
  summary: 'Show one model',
  description:
    "For OpenAI and Anthropic clients. Errors have the format of OpenAI's API, or with the header " +
    "anthropic-version that of Anthropic's. The key may also be sent in the header x-api-key.",
  tags: ['Models'],
  ...samples.modelSamples,
  ...needsKey,
  params: Type.Object({
    id: Type.String({ description: 'The id or an alias of a model that the key may use.', examples: ['default'] }),
  }),
  response: {
    200: answers(schema.listedModel, 'The model.', rateLimitHeaders),
    ...orAnthropic(refusalsAs(openAiError, [...refusalsOfCallers, 'unknown_model', 'model_not_allowed'])),
  },
}
