import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of /models. */
const inModels = { tags: ['Models and prices'], ...needsSession }

export const listConfiguredModels = {
  ...inModels,
  operationId: 'listConfiguredModels',
  summary: 'List models and their prices',
  description: 'All configured models with their state, their prices, and the keys limited to them. For partners.',
  response: {
    200: answers(schema.consoleModels, 'All models.'),
    ...refusals(refusalsOfPeople),
  },
}

export const setPrice = {
  ...inModels,
  operationId: 'setPrice',
  summary: 'Set the price of a model',
  description:
    'Past charges keep theirs. It stays in force until another price is set, or the price in the configuration changes. For partners.',
  params: Type.Object({ model: Type.String({ description: 'The id of the model, not an alias.' }) }),
  body: schema.newPriceBody,
  response: {
    201: answers(schema.newPrice, 'The price.'),
    ...refusals([...refusalsOfPeople, ...refusalsOfBody, 'not_found', 'cross_site_request', 'recent_sign_in_required']),
  },
}
