import type { Server } from '../../platform/http/server.ts'
import { sameOrigin } from '../guard.ts'
import * as operations from '../operations.ts'
import { withSession } from '../session/reply.ts'
import type { SignIn } from '../signin.ts'
import { visitorOf } from '../visitor/visitor.ts'
import { represent } from '../../platform/http/pages/representation.ts'

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

/** /signin/invitation, where an invitation leads, and what its page sends. The token is in the fragment of that URL. */
export function registerInvitation(server: Server, { signIn, baseUrl }: Needs): void {
  const onRequest = [sameOrigin(baseUrl)]

  server.get('/signin/invitation', { schema: operations.readInvitationPage }, async (request, reply) =>
    represent(reply, request, { data: {}, shell: 'sign-in' }),
  )

  server.post(
    '/auth/invitation/inspect',
    { onRequest, schema: operations.inspectInvitation },
    async (request, reply) => {
      const invited = await signIn.inspectInvitation(request.body.token, visitorOf(request))
      const { email, name, role, expiresAt, password } = invited
      return reply.send({
        email,
        name,
        role,
        expires_at: expiresAt.toISOString(),
        ...(password && { password: { minimum_length: password.minimum, only_way: password.isOnlyWay } }),
      })
    },
  )

  server.post('/auth/invitation', { onRequest, schema: operations.acceptInvitation }, async (request, reply) => {
    const admission = await signIn.acceptInvitation(request.body, visitorOf(request))
    return withSession(reply, admission).send({ location: admission.returnTo })
  })
}
