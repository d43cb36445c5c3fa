import type { FastifyRequest } from 'fastify'
import { sessionOf } from '../signin/guard.ts'
import { personActor, type PersonActor, type Visit } from './actor.ts'

/** The signed-in person who sent a request. Throws Problem `not_signed_in` on a route without the guard. */
export function visitOf(request: FastifyRequest): Required<Visit> & { readonly actor: PersonActor } {
  return { actor: personActor(sessionOf(request).person), requestId: request.id, address: request.ip }
}
