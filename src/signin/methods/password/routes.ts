import type { FastifyRequest } from 'fastify'
import type { Audit } from '../../../access/audit/audit.ts'
import { permitted } from '../../../access/permitted.ts'
import type { Action } from '../../../access/policy.ts'
import { visitOf } from '../../../access/visits.ts'
import { represent } from '../../../platform/http/pages/representation.ts'
import type { Server } from '../../../platform/http/server.ts'
import { Problem } from '../../../platform/problems.ts'
import { sameOrigin, sessionOf } from '../../guard.ts'
import type { Sessions } from '../../session/sessions.ts'
import { visitorOf } from '../../visitor/visitor.ts'
import type { Passwords } from './passwords.ts'
import * as operations from './operations.ts'
import type { PasswordReset } from './reset.ts'

interface PasswordRouteNeeds {
  /** Undefined if people do not sign in with passwords. */
  readonly service: { readonly passwords: Passwords; readonly reset: PasswordReset } | undefined
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** Choosing a password: with a link at /signin/reset and /auth/reset, and at /me/password. */
export function registerPasswords(server: Server, needs: PasswordRouteNeeds): void {
  const { baseUrl } = needs
  const service = () => {
    if (needs.service !== undefined) return needs.service
    throw new Problem('not_found', 'This service does not use passwords.')
  }
  const open = { onRequest: [sameOrigin(baseUrl)] }
  const own = (action: Action) => ({ onRequest: permitted(needs, action, 'own_sign_in') })

  server.get('/signin/reset', { schema: operations.readReset }, async (request, reply) => {
    service()
    return represent(reply, request, { data: {}, shell: 'sign-in' })
  })

  server.post('/auth/reset/request', { ...open, schema: operations.requestReset }, async (request, reply) => {
    await service().reset.request(request.body.email, visitorOf(request))
    return reply.send({})
  })

  server.post('/auth/reset/inspect', { ...open, schema: operations.inspectReset }, async (request, reply) => {
    const { email, minimum } = await service().reset.inspect(request.body.token, visitorOf(request))
    return reply.send({ email, minimum_length: minimum })
  })

  server.post('/auth/reset', { ...open, schema: operations.completeReset }, async (request, reply) => {
    await service().reset.complete(request.body, visitorOf(request))
    return reply.send({ location: '/signin' })
  })

  server.post('/me/password', { ...own('change'), schema: operations.changePassword }, async (request, reply) => {
    const { current, password } = request.body
    return reply.send({ ended: await service().passwords.change({ current, password }, changer(request)) })
  })

  server.delete('/me/password', { ...own('remove'), schema: operations.removePassword }, async (request, reply) =>
    reply.send({ ended: await service().passwords.remove(changer(request)) }),
  )
}

const changer = (request: FastifyRequest) => ({
  session: sessionOf(request),
  visitor: visitorOf(request),
  visit: visitOf(request),
})
