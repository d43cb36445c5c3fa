import { visitOf } from '../access/visits.ts'
import type { Server } from '../platform/http/server.ts'
import { idempotencyKeyOf } from '../access/new-id.ts'
import { recordId } from './ids.ts'
import type { LetterVersions } from './letter-versions.ts'
import { createLetterVersion } from './operations.ts'
import { etagOf } from './versions.ts'

/** Registers what letters have beyond notes and disputes. */
export function registerLetters(portal: Server, { versions }: { versions: LetterVersions }): void {
  portal.post('/clients/:client/letters/:item/versions', { schema: createLetterVersion }, async (request, reply) => {
    const { client, item } = request.params
    const clientId = recordId(client)
    const letter = await versions.start(visitOf(request), clientId, recordId(item), idempotencyKeyOf(request))
    reply.code(201).header('location', `/clients/${clientId}/letters/${letter.id}`).header('etag', etagOf(letter))
    return letter
  })
}
