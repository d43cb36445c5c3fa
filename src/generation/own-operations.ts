import { answers, needsKey, rateLimitHeaders, refusals } from '../platform/http/openapi.ts'
import { ownAccount, ownUsage, ownUsageQuery } from '../usage/own-schema.ts'
import { refusalsOfCallers } from './operations.ts'

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
