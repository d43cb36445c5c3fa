import type { Server } from '../../platform/http/server.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import type { History } from '../record/history.ts'
import { idempotencyKeyOf } from '../../access/new-id.ts'
import { recordId } from '../../platform/database/uuid.ts'
import type { Items } from './items.ts'
import { itemOperations } from '../operations.ts'
import { visitOf } from '../../access/visits.ts'
import { basisIfAny, basisOf, etagOf } from '../../platform/http/versions.ts'

/** Registers the routes of one kind of item. */
export function registerItems(portal: Server, { items, history }: { items: Items; history: History }): void {
  const { plural, noun } = items.kind
  const operations = itemOperations(items.kind)
  const list = `/clients/:client/${plural}`
  const one = `${list}/:item`

  portal.get(list, { schema: operations.list }, async (request, reply) => {
    const [visit, clientId] = [visitOf(request), recordId(request.params.client)]
    const { archived, ...page } = request.query
    const { items: found, ...rest } =
      archived === 'true' ? await items.listArchived(visit, clientId, page) : await items.list(visit, clientId, page)
    return represent(reply, request, { data: { [plural]: found, ...rest } })
  })

  portal.post(list, { schema: operations.create }, async (request, reply) => {
    const clientId = recordId(request.params.client)
    const item = await items.create(visitOf(request), clientId, request.body, idempotencyKeyOf(request))
    reply.code(201).header('location', `/clients/${clientId}/${plural}/${item.id}`).header('etag', etagOf(item))
    return item
  })

  portal.get(one, { schema: operations.read }, async (request, reply) => {
    const { client, item } = request.params
    const data = await items.read(visitOf(request), recordId(client), recordId(item))
    return represent(reply, request, { data, headers: { etag: etagOf(data) } })
  })

  portal.patch(one, { schema: operations.change }, async (request, reply) => {
    const { client, item } = request.params
    const change = { basis: basisOf(request.headers['if-match']), body: request.body }
    const changed = await items.change(visitOf(request), recordId(client), recordId(item), change)
    reply.header('etag', etagOf(changed))
    return changed
  })

  portal.delete(one, { schema: operations.archive }, async (request, reply) => {
    const { client, item } = request.params
    const basis = basisIfAny(request.headers['if-match'])
    await items.archive(visitOf(request), recordId(client), recordId(item), basis)
    return reply.code(204).send()
  })

  portal.post(`${one}/restore`, { schema: operations.restore }, async (request, reply) => {
    const { client, item } = request.params
    const basis = basisIfAny(request.headers['if-match'])
    const restored = await items.restore(visitOf(request), recordId(client), recordId(item), basis)
    reply.header('etag', etagOf(restored))
    return restored
  })

  portal.get(`${one}/revisions`, { schema: operations.revisions }, async (request, reply) => {
    const { client, item } = request.params
    const record = { noun, id: recordId(item) }
    const data = await history.revisions(visitOf(request), recordId(client), record, request.query)
    return represent(reply, request, { data })
  })
}
