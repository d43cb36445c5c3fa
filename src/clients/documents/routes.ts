import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { idempotencyKeyOf } from '../../access/new-id.ts'
import { visitOf } from '../../access/visits.ts'
import { recordId } from '../../platform/database/uuid.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import { continueUpload, downloadDocument, readUpload, startUpload } from '../operations.ts'
import type { Contents } from './contents.ts'
import { mostBytes } from './limits.ts'
import type { Body, Uploads } from './uploads.ts'

interface DocumentRouteNeeds {
  readonly uploads: Uploads
  readonly contents: Contents
}

const config = { storesBody: true } as const

/** Registers what documents have beyond other items: uploads and contents. */
export function registerDocuments(portal: Server, { uploads, contents }: DocumentRouteNeeds): void {
  portal.get('/clients/:client/documents/:item/content', { schema: downloadDocument }, async (request, reply) => {
    const { client, item } = request.params
    const version = request.query.version === undefined ? undefined : Number(request.query.version)
    const { bytes, headers } = await contents.read(visitOf(request), recordId(client), recordId(item), version)
    return reply.headers(headers).send(bytes)
  })

  portal.get('/clients/:client/uploads/:upload', { schema: readUpload }, async (request) => {
    const { client, upload } = request.params
    return uploads.read(visitOf(request), recordId(client), recordId(upload))
  })

  void portal.register(async (streamed: Server) => {
    streamed.removeAllContentTypeParsers()
    streamed.addContentTypeParser('*', (_request, bytes, done) => done(null, { bytes }))

    streamed.post('/clients/:client/uploads', { config, schema: startUpload }, async (request, reply) => {
      const clientId = recordId(request.params.client)
      const upload = { bytes: lengthOf(request), body: bodyOf(request) }
      const started = await uploads.start(visitOf(request), clientId, upload, idempotencyKeyOf(request))
      reply.code(201).header('location', `/clients/${clientId}/uploads/${started.id}`)
      return started
    })

    streamed.patch('/clients/:client/uploads/:upload', { config, schema: continueUpload }, async (request) => {
      const { client, upload } = request.params
      const part = { start: numberIn(request, 'upload-offset'), body: bodyOf(request) }
      return uploads.continue(visitOf(request), recordId(client), recordId(upload), part)
    })
  })
}

/** The size of the whole file. Throws Problem `missing_field`, `invalid_field` and `request_too_large`. */
function lengthOf(request: FastifyRequest): number {
  const { headers } = request
  const ofBody = headers['transfer-encoding'] === undefined ? (headers['content-length'] ?? '0') : undefined
  const bytes = numberIn(request, 'upload-length', ofBody)
  if (bytes > mostBytes) {
    throw new Problem('request_too_large', `The file is larger than ${mostBytes} bytes. Send a smaller one.`)
  }
  if (Number(ofBody ?? 0) > bytes) {
    throw new Problem('invalid_field', 'The header Upload-Length must be the size of the whole file.', {
      field: 'Upload-Length',
    })
  }
  return bytes
}

const names = { 'upload-length': 'Upload-Length', 'upload-offset': 'Upload-Offset' } as const

function numberIn({ headers }: FastifyRequest, header: keyof typeof names, otherwise?: string): number {
  const field = names[header]
  const text = headers[header] ?? otherwise
  if (text === undefined) throw new Problem('missing_field', `Send the header ${field}.`, { field })
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem('invalid_field', `The header ${field} must be a number of bytes.`, { field })
}

/** The bytes of the body, which are read as they are needed; what is not is discarded. A request without a body has none. */
function bodyOf({ body }: FastifyRequest): Body {
  return isUnread(body) ? body.bytes.iterator({ destroyOnReturn: false }) : Readable.from([])
}

const isUnread = (body: unknown): body is { readonly bytes: Readable } =>
  typeof body === 'object' && body !== null && 'bytes' in body
