import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Till } from '../billing/till/till.ts'
import { callerOf, wireFormatOf } from '../generation/calls/caller.ts'
import { headersOf } from '../generation/calls/formats.ts'
import { Problem } from '../platform/problems.ts'
import type { Download } from './batch.ts'

/** Sets the headers with the levels of the caller's limits, from which requests about batches take nothing. */
export async function setLevels(
  till: Pick<Till, 'levels'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const levels = await till.levels(callerOf(request))
  if (levels) reply.headers(headersOf(wireFormatOf(request), levels))
}

/** Sends lines as they are read. */
export async function sendLines(
  request: FastifyRequest,
  reply: FastifyReply,
  { lines, onEnd }: Download,
): Promise<FastifyReply> {
  const all = lines[Symbol.asyncIterator]()
  // A fault at the beginning is an ordinary error.
  const first = await all.next()
  let isRead = false
  async function* rest(): AsyncGenerator<string, void, void> {
    for (let next = first; next.done !== true; next = await all.next()) yield next.value
    isRead = true
  }
  if (request.method === 'GET') {
    reply.raw.once('finish', () => {
      if (!isRead || reply.raw.destroyed) return
      onEnd().catch((error: unknown) =>
        request.log.warn({ request_id: request.id, err: error }, 'a download was not noted'),
      )
    })
  }
  return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(rest()))
}

/** A caller that sends the header relies on being charged once, and a retry would be a second batch. Throws Problem `invalid_field`. */
export function refuseIdempotencyKey({ headers }: FastifyRequest): void {
  if (headers['idempotency-key'] === undefined) return
  const reason =
    'Batches are not recognised by it: omit the header Idempotency-Key, and list the batches before a retry.'
  throw new Problem('invalid_field', reason, { field: 'Idempotency-Key' })
}

/** The size of a page in a query. Throws Problem `invalid_field`. */
export function limitIn(text: unknown, fallback: number, most: number): number {
  if (text === undefined) return fallback
  const limit = typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= most) return limit
  throw new Problem('invalid_field', `The field limit must be 1 to ${most}.`, { field: 'limit' })
}

/** The pieces of a body as they arrive. What follows an error is left to be discarded. */
export function bodyPieces(body: unknown): AsyncIterable<Buffer> {
  return (body instanceof Readable ? body : Readable.from([])).iterator({ destroyOnReturn: false })
}
