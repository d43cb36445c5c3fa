import type { FastifyRequest } from 'fastify'
import type { Till } from '../../billing/till/till.ts'
import { callerOf } from '../../generation/calls/caller.ts'
import { anthropicFormat } from '../../generation/calls/formats.ts'
import { Problem } from '../../platform/problems.ts'
import type { Server } from '../../platform/http/server.ts'
import type { BatchDialect } from '../batch.ts'
import type { CallerBatches } from '../batches.ts'
import { bodyPieces, limitIn, refuseIdempotencyKey, sendLines, setLevels } from '../delivery.ts'
import { idOf, shownBatchIds } from '../ids.ts'
import * as operations from './operations.ts'
import { presentMessageBatch } from './present.ts'
import { requestsIn } from './requests.ts'

interface AnthropicBatchesNeeds {
  readonly batches: CallerBatches
  readonly till: Pick<Till, 'levels'>
  readonly baseUrl: string
  /** Bytes of a request. */
  readonly lineBytes: number
}

const config = { wireFormat: anthropicFormat, forAnthropic: true }
const dialect: BatchDialect = 'anthropic'
const idIn = (text: string | undefined): string | undefined => (text === undefined ? undefined : idOf(text))
const of = (request: FastifyRequest) => ({ accountId: callerOf(request).accountId, dialect })

/** Registers Anthropic's message batches. */
export function registerAnthropicBatches(v1: Server, needs: AnthropicBatchesNeeds): void {
  const { batches, till, baseUrl, lineBytes } = needs
  void v1.register(async (scope: Server) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('application/json', (_request, body, done) => done(null, body))
    const schema = operations.createMessageBatch
    scope.post('/messages/batches', { schema, config: { ...config, storesBody: true } }, async (request, reply) => {
      refuseIdempotencyKey(request)
      const asked = { dialect, endpoint: '/v1/messages' } as const
      const lines = requestsIn(bodyPieces(request.body), { most: lineBytes, held: scope.heldBy(reply) })
      const batch = await batches.createFromLines(callerOf(request), lines, asked)
      await setLevels(till, request, reply)
      return presentMessageBatch(batch, baseUrl)
    })
  })

  v1.get('/messages/batches', { schema: operations.listMessageBatches, config }, async (request, reply) => {
    const { after_id, before_id, limit: asked } = request.query
    if (after_id !== undefined && before_id !== undefined) {
      throw new Problem('invalid_field', 'Send either after_id or before_id.', { field: 'before_id' })
    }
    const limit = limitIn(asked, 20, 1000)
    const page = { after: idIn(after_id), before: idIn(before_id), limit: limit + 1 }
    const found = await batches.list(of(request), page)
    // With before_id, the one too many is the first.
    const shown = before_id === undefined ? found.slice(0, limit) : found.slice(-limit)
    const data = shown.map((batch) => presentMessageBatch(batch, baseUrl))
    await setLevels(till, request, reply)
    const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null]
    return { data, first_id, last_id, has_more: found.length > limit }
  })

  v1.get('/messages/batches/:id', { schema: operations.retrieveMessageBatch, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return presentMessageBatch(await batches.show(of(request), idOf(request.params.id)), baseUrl)
  })

  v1.post('/messages/batches/:id/cancel', { schema: operations.cancelMessageBatch, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    return presentMessageBatch(await batches.cancel(of(request), idOf(request.params.id)), baseUrl)
  })

  v1.get(
    '/messages/batches/:id/results',
    { schema: operations.downloadMessageBatch, config },
    async (request, reply) => {
      await setLevels(till, request, reply)
      return sendLines(request, reply, await batches.results(of(request), idOf(request.params.id)))
    },
  )

  v1.delete('/messages/batches/:id', { schema: operations.deleteMessageBatch, config }, async (request, reply) => {
    await setLevels(till, request, reply)
    const id = idOf(request.params.id)
    await batches.remove(of(request), id)
    return { id: shownBatchIds.anthropic(id), type: 'message_batch_deleted' }
  })
}
