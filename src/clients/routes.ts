import * as operations from './operations.ts'
import type { FastifyReply } from 'fastify'
import type { Contents } from './documents/contents.ts'
import { registerDocuments } from './documents/routes.ts'
import type { Uploads } from './documents/uploads.ts'
import type { Server } from '../platform/http/server.ts'
import { represent } from '../platform/http/pages/representation.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { idempotencyKeyOf } from '../access/new-id.ts'
import { recordId } from '../platform/database/uuid.ts'
import { registerItems } from './items/routes.ts'
import type { Approvals } from './letters/approval/approvals.ts'
import { checkedLetters, type LetterFiles } from './letters/files.ts'
import type { LetterMails } from './letters/mail/mails.ts'
import { registerLetterMails } from './letters/mail/routes.ts'
import type { LetterReviews } from './letters/review/reviews.ts'
import { registerLetterReviews } from './letters/review/routes.ts'
import { registerLetters } from './letters/routes.ts'
import { registerTimer } from './timer/routes.ts'
import type { ShownRecord } from './present.ts'
import type { Records } from './records.ts'
import { basisIfAny, basisOf, etagOf } from '../platform/http/versions.ts'
import { onRecords } from '../access/permitted.ts'
import { visitOf } from '../access/visits.ts'
import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import { roleOf } from '../access/policy.ts'

export { recordExamples } from './examples.ts'

export interface ClientRouteNeeds {
  readonly records: Records
  readonly approvals: Approvals
  readonly letterFiles: LetterFiles
  readonly letterMails: LetterMails
  readonly letterReviews: LetterReviews
  readonly uploads: Uploads
  readonly contents: Contents
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** Registers `/clients` and everything below it, `/search` and `/timer`. Each GET route serves JSON and a page. */
export function registerClients(server: Server, needs: ClientRouteNeeds): void {
  const { records, approvals, letterFiles, letterMails, letterReviews, sessions, audit, baseUrl } = needs
  const {
    access,
    notes,
    disputes,
    letters,
    documents,
    tasks,
    contacts,
    timeEntries,
    expenses,
    letterVersions,
    history,
  } = records
  void server.register(async (portal: Server) => {
    portal.addHook('onRequest', sameOrigin(baseUrl))
    portal.addHook('onRequest', signedIn(sessions))
    portal.addHook('onRequest', onRecords(audit))
    portal.addHook('preValidation', async (request) => refuseReserved(access, visitOf(request), request.body))
    registerRecords(portal, records)
    const checked = checkedLetters(letters, { approvals, files: letterFiles })
    for (const items of [notes, disputes, checked, documents, tasks, contacts, timeEntries, expenses]) {
      registerItems(portal, { items, history })
    }
    registerLetters(portal, { versions: letterVersions, files: letterFiles })
    registerLetterMails(portal, letterMails)
    registerLetterReviews(portal, letterReviews)
    registerDocuments(portal, needs)
    registerTimer(portal, records.timers)
    registerHistory(portal, records)
  })
}

function registerRecords(portal: Server, { clients, handOverSelected }: Records): void {
  portal.get('/clients', { schema: operations.listClients }, async (request, reply) =>
    represent(reply, request, { data: await clients.list(visitOf(request), request.query) }),
  )

  portal.post('/clients', { schema: operations.createClient }, async (request, reply) => {
    const record = await clients.create(visitOf(request), request.body, idempotencyKeyOf(request))
    reply.code(201).header('location', `/clients/${record.id}`)
    return withTag(reply, record)
  })

  portal.post('/clients/handover', { schema: operations.handOverClients }, async (request) => ({
    handed_over: await handOverSelected(visitOf(request), request.body),
  }))

  portal.get('/clients/:client', { schema: operations.readClient }, async (request, reply) => {
    const data = await clients.read(visitOf(request), recordId(request.params.client))
    return represent(reply, request, { data, headers: { etag: etagOf(data) } })
  })

  portal.patch('/clients/:client', { schema: operations.changeClient }, async (request, reply) => {
    const change = { basis: basisOf(request.headers['if-match']), body: request.body }
    return withTag(reply, await clients.change(visitOf(request), recordId(request.params.client), change))
  })

  portal.delete('/clients/:client', { schema: operations.deleteClient }, async (request, reply) => {
    const basis = basisIfAny(request.headers['if-match'])
    await clients.remove(visitOf(request), recordId(request.params.client), basis)
    return reply.code(204).send()
  })

  portal.post('/clients/:client/restore', { schema: operations.restoreClient }, async (request, reply) =>
    withTag(reply, await clients.restore(visitOf(request), recordId(request.params.client))),
  )
}

function registerHistory(portal: Server, { history, search }: Records): void {
  portal.get('/clients/:client/revisions', { schema: operations.listRevisions }, async (request, reply) => {
    const id = recordId(request.params.client)
    const record = { noun: 'client', id } as const
    return represent(reply, request, { data: await history.revisions(visitOf(request), id, record, request.query) })
  })

  portal.get('/clients/:client/activity', { schema: operations.listActivity }, async (request, reply) => {
    const id = recordId(request.params.client)
    return represent(reply, request, { data: await history.activity(visitOf(request), id, request.query) })
  })

  portal.get('/search', { schema: operations.searchRecords }, async (request, reply) =>
    represent(reply, request, { data: await search.find(visitOf(request), request.query) }),
  )
}

function withTag(reply: FastifyReply, record: ShownRecord): ShownRecord {
  reply.header('etag', etagOf(record))
  return record
}

/** Fields that set the owner of a record or a role, under any likely name. Consultants may not send them. */
const reserved = ['consultant_id', 'consultant', 'owner', 'owner_id', 'role', 'client_id', 'client']

/** Throws Problem `forbidden` if anyone but a partner sends such a field, and writes an audit event. */
async function refuseReserved(access: RecordAccess, visit: Visit, body: unknown): Promise<void> {
  if (roleOf(visit.actor) === 'partner' || typeof body !== 'object' || body === null) return
  const field = reserved.find((name) => Object.hasOwn(body, name))
  if (field === undefined) return
  const audited = { action: 'client_assigned', details: { field } }
  await access.forbid(visit, audited, `Only partners may assign records: omit ${field}.`, field)
}
