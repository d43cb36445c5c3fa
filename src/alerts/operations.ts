import { Type } from 'typebox'
import { answers, needsSession, refusals, refusalsOfBody, refusalsOfPeople } from '../platform/http/openapi.ts'
import type { ProblemCode } from '../platform/problems.ts'
import * as schema from './schema.ts'

/** The OpenAPI operations of the alerts of an account. All are for partners. */
const reading: readonly ProblemCode[] = [...refusalsOfPeople, 'not_found']
const acting: readonly ProblemCode[] = [...reading, 'cross_site_request']
const writing: readonly ProblemCode[] = [...acting, ...refusalsOfBody, 'conflict']

const inAlerts = { tags: ['Alerts'], ...needsSession }
const params = Type.Object({ account: Type.String({ description: 'The id of the account.' }) })
const alertParams = Type.Object({
  account: Type.String({ description: 'The id of the account.' }),
  alert: Type.String({ description: 'The id of the alert.' }),
})

export const listAlerts = {
  ...inAlerts,
  operationId: 'listAlerts',
  summary: 'List the alerts of an account',
  description: 'Where alerts go, and when they are sent. Without webhook secrets. For partners.',
  params,
  response: { 200: answers(schema.alertList, 'All alerts of the account.'), ...refusals(reading) },
}

export const createAlert = {
  ...inAlerts,
  documentedHeaders: Type.Object({
    'Idempotency-Key': Type.Optional(
      Type.String({
        description:
          'A UUIDv7. A repeated request with the same key creates nothing and gets the alert with its secret, or a ' +
          '`conflict` if it asks for another alert.',
      }),
    ),
  }),
  operationId: 'createAlert',
  summary: 'Create an alert',
  description:
    'By mail with `email`, or as a signed webhook with `webhook`. The webhook secret appears only in this response, and in that to a repeated request. For partners.',
  params,
  body: schema.newAlertBody,
  response: { 201: answers(schema.alertCreated, 'The alert.'), ...refusals(writing) },
}

export const changeAlert = {
  ...inAlerts,
  operationId: 'changeAlert',
  summary: 'Change when an alert is sent',
  description:
    'Replaces all percentages, and whether the end of batches is reported. For a new percentage that is already reached, an alert is sent within seconds. For another address, create another alert: each webhook has its own secret. For partners.',
  params: alertParams,
  body: schema.alertChangeBody,
  response: { 200: answers(schema.alertShown, 'The alert as it is now.'), ...refusals(writing) },
}

export const removeAlert = {
  ...inAlerts,
  operationId: 'removeAlert',
  summary: 'Remove an alert',
  description: 'Alerts that are waiting to be sent are dropped. For partners.',
  params: alertParams,
  response: { 204: { description: 'The alert is removed.', type: 'null' }, ...refusals(acting) },
}

export const testAlert = {
  ...inAlerts,
  operationId: 'testAlert',
  summary: 'Send a test',
  description: 'Sent within seconds; the attempts show the outcome. For partners.',
  params: alertParams,
  response: { 204: { description: 'The test will be sent.', type: 'null' }, ...refusals(acting) },
}

export const listAttempts = {
  ...inAlerts,
  operationId: 'listAlertAttempts',
  summary: 'List the attempts to send alerts',
  description: 'Includes those of removed alerts. For partners.',
  params,
  response: { 200: answers(schema.attemptList, 'The last attempts.'), ...refusals(reading) },
}
