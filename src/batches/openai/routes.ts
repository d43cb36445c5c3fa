import type { Till } from '../../billing/till/till.ts'
import { callerOf } from '../../generation/calls/caller.ts'
import { openAiFormat } from '../../generation/calls/formats.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Batch, BatchDialect } from '../batch.ts'
import type { CallerBatches } from '../batches.ts'
import { limitIn, bodyPieces, refuseIdempotencyKey, sendLines, setLevels } from '../delivery.ts'
import { idOf, shownFileId } from '../ids.ts'
import { presentBatch, presentFile } from './present.ts'
import * as operations from './operations.ts'
import { checkNewBatch } from './schema.ts'

interface OpenAiBatchesNeeds {
  readonly batches: CallerBatches
  readonly till: Pick<Till, 'levels'>
}

const config = { wireFormat: openAiFormat }
const dialect: BatchDialect = 'openai'

/** Registers OpenAI's files and batches. */
export function registerOpenAiBatches(v1: Server, needs: OpenAiBatchesNeeds): void {
  registerUploads(v1, needs)
  registerFiles(v1, needs)
  registerBatches(v1, needs)
}

function registerUploads(v1: Server, { batches, till }: OpenAiBatchesNeeds): void {
  void v1.register(async (scope: Server) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body))
    const schema = operations.uploadFile
    scope.post('/files', { schema, config: { ...config, storesBody: true } }, async (request, reply) => {
      const { accountId } = callerOf(request)
      const { 'content-type': contentType } = request.headers
      const body = bodyPieces(request.body)
      const file = await batches.upload({ accountId, contentType, body, held: scope.heldBy(reply) })
      await setLevels(till, request, reply)
      return presentFile(file)
    })
  })
}

function registerFiles(v1: Server, { batches, till }: OpenAiBatchesNeeds): void {
  v1.get('/files', { schema: operations.listFiles, config }, async (request, reply) => {
    const { after, limit: asked } = request.query
    const limit = limitIn(asked, 20, 100)
    await setLevels(till, request, reply)
    const page = { after: after === undefined ? undefined : idOf(after), limit: limit + 1 }
    const found = await batches.listFiles(callerOf(request).accountId, page)
    return listOf(found.slice(0, limit).map(presentFile), found.length > limit)
  })

  v1.get('/files/:id', { schema: operations.retrieveFile, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return presentFile(await batches.file(callerOf(request).accountId, idOf(request.params.id)))
  })

  v1.get('/files/:id/content', { schema: operations.downloadFile, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return sendLines(request, reply, await batches.content(callerOf(request).accountId, idOf(request.params.id)))
  })

  v1.delete('/files/:id', { schema: operations.deleteFile, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    const id = idOf(request.params.id)
    await batches.deleteFile(callerOf(request).accountId, id)
    return { id: shownFileId(id), object: 'file', deleted: true }
  })
}

function registerBatches(v1: Server, { batches, till }: OpenAiBatchesNeeds): void {
  const present = (batch: Batch) => presentBatch(batch, batches.metadataOf(batch))

  v1.post('/batches', { schema: operations.createBatch, config }, async (request, reply) => {
    refuseIdempotencyKey(request)
    const { endpoint, input_file_id, metadata, output_expires_after: kept } = checkNewBatch(request.body)
    const asked = { dialect, endpoint, metadata: metadata ?? undefined, keptSeconds: kept?.seconds }
    const batch = await batches.createFromFile(callerOf(request), idOf(input_file_id), asked)
    await setLevels(till, request, reply)
    return present(batch)
  })

  v1.get('/batches', { schema: operations.listBatches, config }, async (request, reply) => {
    const { after, limit: asked } = request.query
    const limit = limitIn(asked, 20, 100)
    await setLevels(till, request, reply)
    const { accountId } = callerOf(request)
    const page = { after: after === undefined ? undefined : idOf(after), limit: limit + 1 }
    const found = await batches.list({ accountId, dialect }, page)
    return listOf(found.slice(0, limit).map(present), found.length > limit)
  })

  v1.get('/batches/:id', { schema: operations.retrieveBatch, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return present(await batches.show({ accountId: callerOf(request).accountId, dialect }, idOf(request.params.id)))
  })

  v1.post('/batches/:id/cancel', { schema: operations.cancelBatch, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return present(await batches.cancel({ accountId: callerOf(request).accountId, dialect }, idOf(request.params.id)))
  })
}

function listOf<Item extends { readonly id: string }>(data: readonly Item[], hasMore: boolean) {
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
  return { object: 'list', data, first_id, last_id, has_more: hasMore } as const
}
