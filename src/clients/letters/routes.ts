import { idempotencyKeyOf } from '../../access/new-id.ts'
import { visitOf } from '../../access/visits.ts'
import type { FileFormat } from '../../documents/document.ts'
import type { Server } from '../../platform/http/server.ts'
import { recordId } from '../../platform/database/uuid.ts'
import type { LetterFiles } from './files.ts'
import type { LetterVersions } from './versions.ts'
import { createLetterVersion, letterFile } from '../operations.ts'
import { etagOf } from '../../platform/http/versions.ts'

const one = '/clients/:client/letters/:item'

/** The last part of the URL of each kind of file. */
const formats: Readonly<Record<'pdf' | 'docx' | 'print', FileFormat>> = { pdf: 'pdf', docx: 'docx', print: 'html' }

interface LetterRouteNeeds {
  readonly versions: LetterVersions
  readonly files: LetterFiles
}

/** Registers what letters have beyond notes and disputes: new versions and files. */
export function registerLetters(portal: Server, { versions, files }: LetterRouteNeeds): void {
  portal.post(`${one}/versions`, { schema: createLetterVersion }, async (request, reply) => {
    const { client, item } = request.params
    const clientId = recordId(client)
    const letter = await versions.start(visitOf(request), clientId, recordId(item), idempotencyKeyOf(request))
    reply.code(201).header('location', `/clients/${clientId}/letters/${letter.id}`).header('etag', etagOf(letter))
    return letter
  })

  for (const [name, format] of Object.entries(formats)) {
    portal.get(`${one}/${name}`, { schema: letterFile(name) }, async (request, reply) => {
      const { client, item } = request.params
      const file = await files.write(visitOf(request), recordId(client), recordId(item), format)
      return reply.headers(file.headers).send(Buffer.from(file.bytes))
    })
  }
}
