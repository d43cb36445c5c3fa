import type { Visit } from '../access/actor.ts'
import { visitOf } from '../access/visits.ts'
import type { Server } from '../platform/http/server.ts'
import type { Guard } from '../signin/guard.ts'
import type { People } from './people.ts'
import * as operations from './operations.ts'
import type { ShownHandover } from './schema.ts'

/** What it would do. */
interface Preview {
  readonly active: number
  readonly archived: number
  readonly clients: Readonly<ShownHandover['clients']>
  readonly conflicts: Readonly<ShownHandover['conflicts']>
}

/** Handing over all clients of one person to another, on behalf of a partner. */
export interface HandOver {
  preview(this: void, visit: Visit, from: string, to: string | undefined): Promise<Preview>
  /** Returns how many clients were assigned. Throws Problem `invalid_field`, `conflict`. */
  perform(this: void, visit: Visit, parties: { readonly from: string; readonly to: string }): Promise<number>
}

interface HandoverNeeds {
  readonly people: Pick<People, 'show'>
  readonly handover: HandOver
}

interface PreviewRoute {
  Params: { id: string }
  Querystring: Readonly<Record<string, unknown>>
}

export function registerHandover(
  server: Server,
  { people, handover }: HandoverNeeds,
  allowed: (action: 'change') => Guard[],
): void {
  const onRequest = allowed('change')

  server.get<PreviewRoute>(
    '/people/:id/handover',
    { onRequest, schema: operations.previewHandover },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const { to } = request.query
      const preview = await handover.preview(visitOf(request), id, typeof to === 'string' ? to : undefined)
      return reply.send({ ...preview, clients: [...preview.clients], conflicts: [...preview.conflicts] })
    },
  )

  server.post<{ Params: { id: string }; Body: { to: string } }>(
    '/people/:id/handover',
    { onRequest, schema: operations.performHandover },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const parties = { from: id, to: request.body.to }
      return reply.send({ handed_over: await handover.perform(visitOf(request), parties) })
    },
  )
}
