import type { FastifyReply, FastifyRequest } from 'fastify'
import { disconnectSignal } from '../platform/http/connection/disconnect.ts'
import { Problem } from '../platform/problems.ts'
import { callerOf } from './calls/caller.ts'
import type { Job, TextRequest } from './request.ts'

/** The job of an HTTP request with an API key. Throws Problem `invalid_field` for a bad Idempotency-Key. */
export function jobOf(request: FastifyRequest, reply: FastifyReply, text: TextRequest): Job {
  const { accountId, keyId, limitId, allowedModels } = callerOf(request)
  return {
    requestId: request.id,
    request: text,
    payer: { accountId, keyId, limitId, clientId: text.clientId },
    allowedModels,
    startedAt: request.startedAt,
    signal: disconnectSignal(reply),
    idempotency: idempotencyOf(request),
  }
}

function idempotencyOf({ headers, bodyHash }: FastifyRequest): { key: string; hash: string } | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || bodyHash === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return { key, hash: bodyHash }
  throw new Problem('invalid_field', 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
  })
}
