import type { Server } from '../../platform/http/server.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import { sameOrigin } from '../guard.ts'
import * as operations from '../operations.ts'
import type { SignIn } from '../signin.ts'
import { withSession } from '../session/reply.ts'
import { visitorOf } from '../visitor/visitor.ts'

interface InvitationRouteNeeds {
  readonly signIn: SignIn
  readonly baseUrl: string
}

/** /signin/invitation, where an invitation leads, and what its page sends. The token is in the fragment of that URL. */
export function registerInvitation(server: Server, { signIn, baseUrl }: InvitationRouteNeeds): void {
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
