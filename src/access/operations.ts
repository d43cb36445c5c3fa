import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import { auditList, auditQuery } from './schema.ts'

/** The OpenAPI operation of /audit. */
export const readAudit = {
  tags: ['Audit log'],
  ...needsSession,
  operationId: 'readAudit',
  summary: 'Read the audit log',
  description: 'The newest events first. With `format=csv`, all matching events as a file. For partners.',
  querystring: auditQuery,
  response: {
    200: answers(auditList, 'One page.'),
    ...refusals([
      'malformed_request',
      'not_signed_in',
      'forbidden',
      'invalid_field',
      'unknown_field',
      'internal',
      'unavailable',
    ]),
  },
}
