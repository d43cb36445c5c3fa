import { answers, needsSession, refusals, refusalsOfPeople } from '../platform/http/openapi.ts'
import { auditList, auditProof, auditQuery } from './schema.ts'

/** The OpenAPI operation of /audit. */
export const readAudit = {
  tags: ['Audit log'],
  ...needsSession,
  operationId: 'readAudit',
  summary: 'Read the audit log',
  description:
    "The newest events first. With `format=csv`, all matching events as a file, with times in the firm's time zone and their offset from UTC. For partners.",
  querystring: auditQuery,
  response: {
    200: answers(auditList, 'One page.'),
    ...refusals([...refusalsOfPeople, 'invalid_field', 'unknown_field']),
  },
}

/** The OpenAPI operation of /audit/verification. */
export const verifyAudit = {
  tags: ['Audit log'],
  ...needsSession,
  operationId: 'verifyAudit',
  summary: 'Verify the audit log',
  description:
    'Checks that the seals of the audit log are one chain and that its sealed rows are unchanged. If there are more than 100 000 rows, it reads the newest rows and a part of the others, which changes daily; `tollgate verify --full` reads all. For partners.',
  response: {
    200: answers(auditProof, 'The checks and the last seal.'),
    ...refusals([...refusalsOfPeople, 'cross_site_request']),
  },
}
