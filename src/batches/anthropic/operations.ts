import { anthropicError } from '../../generation/calls/formats.ts'
import {
  answersWith,
  cancelled,
  common,
  creating,
  ending,
  free,
  listed,
  ofBatch,
  paging,
  reading,
} from '../operations.ts'
import * as schema from './schema.ts'

/** Batches in Anthropic's form. */
const { responses, lines } = answersWith(anthropicError)

export const createMessageBatch = {
  ...common,
  operationId: 'createMessageBatch',
  summary: "Queue a batch of requests (Anthropic's message batches)",
  description:
    'The requests are made within 24 hours, as far as other requests leave room in the limits, and charged to this key as others are. All are checked first: if any is at ' +
    'fault, the batch is refused with its place and field, and nothing is queued.',
  body: schema.newMessageBatch,
  ...responses(schema.messageBatch, 'The batch.', [...creating, 'unknown_model', 'model_not_allowed']),
}

export const listMessageBatches = {
  ...common,
  operationId: 'listMessageBatches',
  summary: 'List the message batches of the account',
  description: listed,
  querystring: schema.messageBatchesQuery,
  ...responses(schema.listedMessageBatches, 'One page.', paging),
}

export const retrieveMessageBatch = {
  ...common,
  operationId: 'retrieveMessageBatch',
  summary: 'Show a message batch',
  description: `How far it is. ${free}`,
  params: ofBatch,
  ...responses(schema.messageBatch, 'The batch.', reading),
}

export const cancelMessageBatch = {
  ...common,
  operationId: 'cancelMessageBatch',
  summary: 'Cancel a message batch',
  description: cancelled,
  params: ofBatch,
  ...responses(schema.messageBatch, 'The batch.', ending),
}

export const downloadMessageBatch = {
  ...common,
  operationId: 'downloadMessageBatchResults',
  summary: 'Download the results of a message batch',
  description: `A JSON object in each line, in the order of the requests. They are removed a day after they were downloaded. ${free}`,
  params: ofBatch,
  ...lines(ending),
}

export const deleteMessageBatch = {
  ...common,
  operationId: 'deleteMessageBatch',
  summary: 'Delete a message batch',
  description: `With its results, once it has ended. ${free}`,
  params: ofBatch,
  ...responses(schema.deletedMessageBatch, 'The batch is deleted.', ending),
}
