import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfPeople } from '../platform/http/openapi.ts'
import { loggedRequest, requestsPage, requestsQuery, usagePage, usageQuery } from './schema.ts'

const common = { tags: ['Usage'], ...needsSession }

/** The OpenAPI operations of /usage. */
export const readUsage = {
  ...common,
  operationId: 'readUsage',
  summary: 'Show the usage of the firm',
  description:
    'Requests, tokens, cost and refusals of all accounts, in total and by day, model, key, client and account, compared ' +
    'with the days before; and how close accounts are to their limits. With `format=csv`, the figures of every group as a ' +
    'file; its days are UTC days. For partners.',
  querystring: usageQuery,
  response: {
    200: answers(usagePage, 'The usage.'),
    ...refusals([...refusalsOfPeople, 'invalid_field', 'unknown_field']),
  },
}

export const listRequests = {
  ...common,
  operationId: 'listRequests',
  summary: 'List requests',
  description:
    'Every charged request, and refused requests of the last 30 days, the newest first. If many requests are refused in one ' +
    'second, only some are kept; all are counted. With `format=csv`, all matching requests as a file, with times in ' +
    'the time zone of the firm and their offset. For partners.',
  querystring: requestsQuery,
  response: {
    200: answers(requestsPage, 'One page.'),
    ...refusals([...refusalsOfPeople, 'invalid_field', 'unknown_field']),
  },
}

export const showRequest = {
  ...common,
  operationId: 'showRequest',
  summary: 'Show one request',
  description: 'A charged request, or a refused one that is kept. For partners.',
  params: Type.Object({ id: Type.String({ description: 'The id of the request.' }) }),
  response: { 200: answers(loggedRequest, 'The request.'), ...refusals([...refusalsOfPeople, 'not_found']) },
}
