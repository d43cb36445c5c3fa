import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfPeople } from '../../platform/http/openapi.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of the batches of an account, for people. */
const inAccountBatches = { tags: ['Account batches'], ...needsSession }
const account = Type.String({ description: 'The id of the account.' })

export const listAccountBatches = {
  ...inAccountBatches,
  operationId: 'listAccountBatches',
  summary: 'List the batches of an account',
  description:
    'How far each is, the newest first, and nothing of its requests and results. For partners, and for developers who were granted the account.',
  params: Type.Object({ account }),
  querystring: schema.accountBatchesQuery,
  response: {
    200: answers(schema.accountBatches, 'One page.'),
    ...refusals([...refusalsOfPeople, 'not_found', 'invalid_field', 'unknown_field']),
  },
}

export const cancelAccountBatch = {
  ...inAccountBatches,
  operationId: 'cancelAccountBatch',
  summary: 'Cancel a batch of an account',
  description: 'Lines that have begun are run and charged; the others are not run. For partners.',
  params: Type.Object({ account, batch: Type.String({ description: 'The id of the batch.' }) }),
  response: {
    200: answers(schema.batchShown, 'The batch as it is now.'),
    ...refusals([...refusalsOfPeople, 'not_found', 'conflict', 'cross_site_request', 'recent_sign_in_required']),
  },
}
