import type { FastifyRequest } from 'fastify'
import type { Visit } from './access.ts'
import { sessionOf } from '../signin/guard.ts'

/** Whom a request is for. */
export function visitOf(request: FastifyRequest): Visit {
  const { id, role } = sessionOf(request).person
  return { person: { id, role }, requestId: request.id, address: request.ip }
}
