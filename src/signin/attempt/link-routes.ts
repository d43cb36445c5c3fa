import type { Server } from '../../platform/http/server.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import { sameOrigin } from '../guard.ts'
import * as operations from '../operations.ts'
import type { SignIn } from '../signin.ts'
import { withSession } from '../session/reply.ts'
import { visitorOf } from '../visitor/visitor.ts'

interface LinkRouteNeeds {
  readonly signIn: SignIn
  readonly baseUrl: string
}

/**
 * /signin/link, where a mailed link leads, and what its page sends. The token is in the fragment of that URL, which no
 * browser sends: it is in no log and in no Referer header.
 */
export function registerLinks(server: Server, { signIn, baseUrl }: LinkRouteNeeds): void {
  const onRequest = [sameOrigin(baseUrl)]

  server.get('/signin/link', { schema: operations.readLinkPage }, async (request, reply) =>
    represent(reply, request, { data: {}, shell: 'sign-in' }),
  )

  server.post('/auth/link/inspect', { onRequest, schema: operations.inspectLink }, async (request, reply) => {
    const { isOwnBrowser, address, device } = await signIn.inspectLink(request.body.token, visitorOf(request))
    return reply.send({ own_browser: isOwnBrowser, address, device })
  })

  server.post('/auth/link', { onRequest, schema: operations.completeLink }, async (request, reply) => {
    const { token, confirmed = false } = request.body
    const admission = await signIn.completeLink(token, visitorOf(request), confirmed)
    return withSession(reply, admission).send({ location: admission.returnTo })
  })
}
