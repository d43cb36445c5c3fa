import { Type } from 'typebox'
import { answers, limitHeaders, needsKey, refusals, type Operation } from '../platform/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
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

export const generateOperation: Operation<typeof schema.generateRequest> = {
  operationId: 'generate',
  summary: 'Generate text',
  description: 'Generates a reply to the input and charges the tokens in both directions. A refusal is never charged.',
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
  body: schema.generateRequest,
  response: {
    200: answers(schema.generateResponse, 'The reply. It is charged.', {
      ...modelHeader,
      'x-cost': text("What the call cost, as a decimal in the account's currency."),
      'idempotent-replayed': text('`true` on an answer that was stored for the Idempotency-Key; it was free.'),
      ...limitHeaders,
    }),
    ...refusals(generating),
  },
}

export const countOperation: Operation<typeof schema.generateRequest> = {
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

export const modelsOperation = {
  operationId: 'listModels',
  summary: 'List models',
  description: 'The models that the key may use.',
  tags: ['Models'],
  ...needsKey,
  response: { 200: answers(schema.modelsResponse, 'The models.', limitHeaders), ...refusals(always) },
}
