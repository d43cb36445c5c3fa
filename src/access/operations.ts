import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import { auditList, auditProof, auditQuery } from './schema.ts'

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

/** The OpenAPI operation of /audit/verification. */
export const verifyAudit = {
  tags: ['Audit log'],
  ...needsSession,
  operationId: 'verifyAudit',
  summary: 'Verify the audit log',
  description:
    'Checks that the seals of the audit log are one chain and that its sealed rows are unchanged. Of more than 100 000 rows it reads the newest and a part of the others, another one each day; `tollgate verify --full` reads all. For partners.',
  response: {
    200: answers(auditProof, 'The checks and the last seal.'),
    ...refusals(['malformed_request', 'not_signed_in', 'forbidden', 'cross_site_request', 'internal', 'unavailable']),
  },
}
