import { idempotencyKeyOf } from '../../access/new-id.ts'
import { visitOf } from '../../access/visits.ts'
import { recordId } from '../../platform/database/uuid.ts'
import type { Server } from '../../platform/http/server.ts'
import { endTimer, readTimer, startTimer, stopTimer } from '../operations.ts'
import type { Timers } from './timer.ts'

/** Registers the timer of the person who is signed in. */
export function registerTimer(portal: Server, timers: Timers): void {
  portal.get('/timer', { schema: readTimer }, (request) => timers.read(visitOf(request), request.query.known))

  portal.post('/clients/:client/timer', { schema: startTimer }, async (request, reply) => {
    const clientId = recordId(request.params.client)
    const started = await timers.start(visitOf(request), clientId, request.body, idempotencyKeyOf(request))
    reply.code(201)
    return started
  })

  portal.post('/timer/:timer/stop', { schema: stopTimer }, (request) =>
    timers.stop(visitOf(request), recordId(request.params.timer)),
  )

  portal.delete('/timer/:timer', { schema: endTimer }, async (request, reply) => {
    await timers.end(visitOf(request), recordId(request.params.timer))
    return reply.code(204).send()
  })
}
