import * as operations from './operations.ts'
import type { Audit } from '../access/audit/audit.ts'
import { onRecords } from '../access/permitted.ts'
import { visitOf } from '../access/visits.ts'
import { idempotencyKeyOf, newId } from '../access/new-id.ts'
import { recordId } from '../platform/database/uuid.ts'
import { basisIfAny, basisOf, etagOf } from '../platform/http/versions.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import { sameOrigin, sessionOf, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { resultOf, streamDraft, wantsWhole } from './delivery.ts'
import type { Drafting } from './drafting.ts'
import type { Templates } from './templates.ts'

export interface DraftingRouteNeeds {
  readonly drafting: Drafting
  readonly templates: Templates
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** Registers the drafts and costs of clients, and `/templates`. Each GET route serves JSON and a page. */
export function registerDrafting(server: Server, needs: DraftingRouteNeeds): void {
  const { drafting, sessions, audit, baseUrl } = needs
  server.addHook('onClose', drafting.endAll)
  void server.register(async (portal: Server) => {
    portal.addHook('onRequest', sameOrigin(baseUrl))
    portal.addHook('onRequest', signedIn(sessions))
    portal.addHook('onRequest', onRecords(audit))
    registerWriting(portal, needs)
    registerReading(portal, needs)
    registerTemplates(portal, needs)
  })
}

function registerWriting(portal: Server, { drafting, sessions, baseUrl }: DraftingRouteNeeds): void {
  portal.post('/clients/:client/drafts', { schema: operations.writeDraft }, (request, reply) => {
    const session = sessionOf(request).id
    const { cookie } = request.headers
    const isSignedIn = async () => (await sessions.recognise(cookie))?.id === session
    const [visit, client, key] = [visitOf(request), recordId(request.params.client), idempotencyKeyOf(request)]
    const id = key === undefined ? request.id : newId(visit, `${client}/drafts`, key)
    const steps = drafting.write(visit, client, { ...request.body, id })
    const delivery = { request, reply, baseUrl, isSignedIn }
    const delivered = wantsWhole(request) ? resultOf(steps, delivery) : streamDraft(steps, delivery)
    // A draft continues when its reader goes away or signs out, and a server that stops must let it.
    portal.closeAfter(delivered)
    return delivered
  })

  portal.post('/clients/:client/drafts/:draft/stop', { schema: operations.stopDraft }, async (request, reply) => {
    const { client, draft } = request.params
    reply.code(202)
    return drafting.stop(visitOf(request), recordId(client), recordId(draft))
  })
}

function registerReading(portal: Server, { drafting }: DraftingRouteNeeds): void {
  portal.get('/clients/:client/drafts', { schema: operations.listDrafts }, async (request, reply) => {
    const { letter } = request.query
    const ofLetter = letter === undefined ? undefined : recordId(letter)
    const drafts = await drafting.list(visitOf(request), recordId(request.params.client), ofLetter)
    return represent(reply, request, { data: { drafts } })
  })

  portal.get('/clients/:client/drafts/:draft', { schema: operations.readDraft }, async (request, reply) => {
    const { client, draft } = request.params
    const data = await drafting.read(visitOf(request), recordId(client), recordId(draft))
    return represent(reply, request, { data })
  })

  portal.get('/clients/:client/drafts/:draft/check', { schema: operations.checkDraft }, async (request, reply) => {
    const { client, draft } = request.params
    const data = await drafting.check(visitOf(request), recordId(client), recordId(draft))
    return represent(reply, request, { data })
  })

  portal.get('/clients/:client/costs', { schema: operations.readCosts }, async (request, reply) => {
    const data = await drafting.costs(visitOf(request), recordId(request.params.client))
    return represent(reply, request, { data })
  })
}

function registerTemplates(portal: Server, { templates }: DraftingRouteNeeds): void {
  portal.get('/templates', { schema: operations.listTemplates }, async (request, reply) =>
    represent(reply, request, { data: { templates: await templates.list(visitOf(request)) } }),
  )

  portal.post('/templates', { schema: operations.createTemplate }, async (request, reply) => {
    const template = await templates.create(visitOf(request), request.body, idempotencyKeyOf(request))
    reply.code(201).header('location', `/templates/${template.id}`).header('etag', etagOf(template))
    return template
  })

  portal.patch('/templates/:template', { schema: operations.changeTemplate }, async (request, reply) => {
    const change = { basis: basisOf(request.headers['if-match']), body: request.body }
    const template = await templates.change(visitOf(request), recordId(request.params.template), change)
    reply.header('etag', etagOf(template))
    return template
  })

  portal.delete('/templates/:template', { schema: operations.removeTemplate }, async (request, reply) => {
    const basis = basisIfAny(request.headers['if-match'])
    await templates.remove(visitOf(request), recordId(request.params.template), basis)
    return reply.code(204).send()
  })

  portal.get('/templates/:template/revisions', { schema: operations.listTemplateRevisions }, async (request, reply) => {
    const revisions = await templates.revisions(visitOf(request), recordId(request.params.template))
    return represent(reply, request, { data: { revisions } })
  })
}
