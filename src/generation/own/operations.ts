import { Type } from 'typebox'
import { answers, needsKey, rateLimitHeaders, refusals } from '../../platform/http/openapi.ts'
import { ownAccount, ownRequest, ownUsage, ownUsageQuery } from '../../usage/own/schema.ts'
import { refusalsOfCallers } from '../operations.ts'

/** The OpenAPI operations of an account's own figures. */
export const showOwnUsage = {
  operationId: 'getUsage',
  summary: 'Show your usage',
  description:
    'The requests, tokens and cost of the account that the key belongs to, with all its keys, by day, model and key. The ' +
    'sums equal the ledger at any moment. Refused requests are counted within a second. Free of charge; does not count ' +
    'towards the limits.',
  tags: ['Account'],
  ...needsKey,
  querystring: ownUsageQuery,
  response: {
    200: answers(ownUsage, 'The usage.', rateLimitHeaders),
    ...refusals([...refusalsOfCallers, 'invalid_field', 'unknown_field']),
  },
}

export const showOwnRequest = {
  operationId: 'getRequest',
  summary: 'Show one of your requests',
  description:
    'What became of a request of any key of the account: what was charged, or why it was refused, for 30 days. If many requests are refused in one second, only some are kept. Refusals can be read a second later. No text of the request or its reply is kept. Free of charge; does not count towards the limits.',
  tags: ['Account'],
  ...needsKey,
  params: Type.Object({
    id: Type.String({ description: 'The id of the request: the header `request-id` of its response.' }),
  }),
  response: {
    200: answers(ownRequest, 'The request.', rateLimitHeaders),
    ...refusals([...refusalsOfCallers, 'not_found']),
  },
}

export const showOwnAccount = {
  operationId: 'getAccount',
  summary: 'Show your account',
  description:
    'The balance or the monthly limit of the account that the key belongs to, what is left of it, and its limits. Free of ' +
    'charge; does not count towards the limits.',
  tags: ['Account'],
  ...needsKey,
  response: { 200: answers(ownAccount, 'The account.', rateLimitHeaders), ...refusals(refusalsOfCallers) },
}
