import { Type, type TSchema } from 'typebox'
import { anthropicError, refusalsAs, refusalsOfCallers } from '../../generation/calls/formats.ts'
import { answers, needsKey, rateLimitHeaders, refusalsOfBody } from '../../platform/http/openapi.ts'
import type { ProblemCode } from '../../platform/problems.ts'
import * as schema from './schema.ts'

const common = { tags: ['Batches'], ...needsKey }
const reading: readonly ProblemCode[] = [...refusalsOfCallers, 'not_found']
const creating: readonly ProblemCode[] = [
  ...refusalsOfCallers,
  ...refusalsOfBody,
  'conflict',
  'unknown_model',
  'model_not_allowed',
  'request_timeout',
]
const params = Type.Object({ id: Type.String({ description: 'The id of the batch.' }) })
const responses = (of: TSchema, description: string, codes: readonly ProblemCode[]) => ({
  response: { 200: answers(of, description, rateLimitHeaders), ...refusalsAs(anthropicError, [...codes]) },
})
const free = 'Free of charge; does not count towards the limits.'

export const createMessageBatch = {
  ...common,
  operationId: 'createMessageBatch',
  summary: "Queue a batch of requests (Anthropic's message batches)",
  description:
    'The requests are made within 24 hours, as far as other requests leave room in the limits, and charged to this key as others are. All are checked first: if any is at ' +
    'fault, the batch is refused with its place and field, and nothing is queued.',
  body: schema.newMessageBatch,
  ...responses(schema.messageBatch, 'The batch.', creating),
}

export const listMessageBatches = {
  ...common,
  operationId: 'listMessageBatches',
  summary: 'List the message batches of the account',
  description: `The newest first, those of all its keys. ${free}`,
  querystring: schema.messageBatchesQuery,
  ...responses(schema.listedMessageBatches, 'One page.', [...refusalsOfCallers, 'invalid_field']),
}

export const retrieveMessageBatch = {
  ...common,
  operationId: 'retrieveMessageBatch',
  summary: 'Show a message batch',
  description: `How far it is. ${free}`,
  params,
  ...responses(schema.messageBatch, 'The batch.', reading),
}

export const cancelMessageBatch = {
  ...common,
  operationId: 'cancelMessageBatch',
  summary: 'Cancel a message batch',
  description: `Requests that have begun are made and charged; the others are not. ${free}`,
  params,
  ...responses(schema.messageBatch, 'The batch.', [...reading, 'conflict']),
}

export const downloadMessageBatch = {
  ...common,
  operationId: 'downloadMessageBatchResults',
  summary: 'Download the results of a message batch',
  description: `A JSON object in each line, in the order of the requests. They are removed a day after they were downloaded. ${free}`,
  params,
  response: {
    200: { description: 'The lines.', content: { 'application/x-ndjson': { schema: { type: 'string' } } } },
    ...refusalsAs(anthropicError, [...reading, 'conflict']),
  },
}

export const deleteMessageBatch = {
  ...common,
  operationId: 'deleteMessageBatch',
  summary: 'Delete a message batch',
  description: `With its results, once it has ended. ${free}`,
  params,
  ...responses(schema.deletedMessageBatch, 'The batch is deleted.', [...reading, 'conflict']),
}
