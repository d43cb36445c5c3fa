import type { Server } from '../../platform/http/server.ts'
import { sameOrigin } from '../guard.ts'
import * as operations from '../operations.ts'
import { withSession } from '../session/reply.ts'
import type { SignIn } from '../signin.ts'
import { visitorOf } from '../visitor/visitor.ts'

interface Needs {
  readonly signIn: SignIn
  readonly baseUrl: string
}

/** /auth/second-factor: the step between a first proof and the session. */
export function registerFactors(server: Server, { signIn, baseUrl }: Needs): void {
  const onRequest = [sameOrigin(baseUrl)]

  server.post('/auth/second-factor/start', { onRequest, schema: operations.startFactor }, async (request, reply) =>
    reply.send({ challenge: await signIn.beginFactor(request.body.factor, visitorOf(request)) }),
  )

  server.post('/auth/second-factor', { onRequest, schema: operations.completeFactor }, async (request, reply) => {
    const admission = await signIn.completeFactor(visitorOf(request), request.body.input)
    return withSession(reply, admission).send({ location: admission.returnTo })
  })

  server.post(
    '/auth/second-factor/abandon',
    { onRequest, schema: operations.abandonFactor },
    async (request, reply) => {
      await signIn.abandonFactor(visitorOf(request))
      return reply.send({ location: '/signin' })
    },
  )

  server.post(
    '/auth/second-factor/enrol/start',
    { onRequest, schema: operations.startEnrolment },
    async (request, reply) => {
      const { factor, input } = request.body
      return reply.send({ challenge: await signIn.beginEnrolment(factor, visitorOf(request), input) })
    },
  )

  server.post(
    '/auth/second-factor/enrol',
    { onRequest, schema: operations.completeEnrolment },
    async (request, reply) => {
      const { recoveryCodes, ...admission } = await signIn.completeEnrolment(visitorOf(request), request.body.input)
      const codes = recoveryCodes && { recovery_codes: recoveryCodes }
      return withSession(reply, admission).send({ location: admission.returnTo, ...codes })
    },
  )
}
