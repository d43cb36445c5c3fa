import { Readable } from 'node:stream'
import type { Database } from '../platform/database/database.ts'
import type { Server } from '../platform/http/server.ts'
import { prefersPage } from '../platform/http/input/headers.ts'
import { represent } from '../platform/http/pages/representation.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { RecordAccess } from './access.ts'
import type { Audit } from './audit/audit.ts'
import { createAuditLog } from './audit/audit-log.ts'
import { createAuditVerification } from './audit/verification.ts'
import { permitted } from './permitted.ts'
import { visitOf } from './visits.ts'
import { answers, needsSession, refusals, refusalsOfPeople } from '../platform/http/openapi.ts'
import { auditList, auditProof, auditQuery } from './schema.ts'
import type { ExampleValues } from '../platform/http/examples.ts'

/** The OpenAPI operation of /audit. */
const readAudit = {
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
const verifyAudit = {
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

export interface AuditRouteNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly audit: Pick<Audit, 'record'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly locale: string
  readonly timeZone: string
}

/** /audit, for partners: the audit log in pages or as a CSV file, and the proof that it is unchanged. */
export function registerAudit(server: Server, needs: AuditRouteNeeds): void {
  const { sessions, baseUrl } = needs
  const log = createAuditLog(needs)
  const onRequest = [sameOrigin(baseUrl), signedIn(sessions)]
  server.get('/audit', { onRequest, schema: readAudit }, async (request, reply) => {
    const { query } = request
    if (query.format !== 'csv') {
      const hidesViews = query.action === undefined && prefersPage(request.headers.accept)
      const asked = hidesViews ? { views: 'false' as const, ...query } : query
      return represent(reply, request, { data: await log.page(visitOf(request), asked) })
    }
    const pieces = await log.csv(visitOf(request), query)
    reply.header('content-disposition', 'attachment; filename="audit.csv"').type('text/csv; charset=utf-8')
    return reply.send(Readable.from(pieces))
  })

  const verify = createAuditVerification(needs)
  server.post(
    '/audit/verification',
    { onRequest: permitted(needs, 'read', 'audit'), schema: verifyAudit },
    async (request, reply) => represent(reply, request, { data: await verify(visitOf(request)) }),
  )
}

const person = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35'
const client = '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11'

/** An event of the audit log, for the documentation. */
export const auditExamples = {
  'Audit log': {
    'audit.id': '48213',
    action: 'client_read',
    actor: { kind: 'person', id: person, name: 'Daniel Osei' },
    person: { id: person, name: 'Daniel Osei' },
    client: { id: client, name: 'Harbour Lane Bakery' },
    noun: 'client',
    noun_id: client,
    request_id: '0199d2f7-0a3c-7e44-9c18-6b5d2f90e713',
    address: '192.0.2.0',
    details: {},
    next: null,
    ok: true,
    rows: 48213,
    last_seal: `audit:1740:48213:${'5080aae6'.repeat(8)}`,
    'checks.name': 'the seals of audit are one chain',
    read: null,
    faults: [],
  },
} satisfies ExampleValues
