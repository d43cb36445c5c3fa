import { represent } from '../../../platform/http/pages/representation.ts'
import type { Server } from '../../../platform/http/server.ts'
import { Problem } from '../../../platform/problems.ts'
import type { Attempts } from '../../attempt/attempts.ts'
import { notUsable, type Steps } from '../../attempt/steps.ts'
import type { Gate, GateResult } from '../../gate.ts'
import { sameOrigin } from '../../guard.ts'
import { withSession } from '../../session/reply.ts'
import { visitorOf, type Visitor } from '../../visitor/visitor.ts'
import type { EmailLinkMethod } from './links.ts'
import * as operations from './operations.ts'

interface LinkRouteNeeds {
  /** Undefined if the configuration does not allow sign-in links. */
  readonly method: EmailLinkMethod | undefined
  readonly attempts: Attempts
  readonly gate: Gate
  readonly steps: Steps
  readonly baseUrl: string
}

/**
 * /signin/link, where a mailed link leads, and what its page sends. The token is in the fragment of that URL, which no
 * browser sends: it is in no log and in no Referer header.
 */
export function registerLinks(server: Server, needs: LinkRouteNeeds): void {
  const onRequest = [sameOrigin(needs.baseUrl)]

  server.get('/signin/link', { schema: operations.readLinkPage }, async (request, reply) =>
    represent(reply, request, { data: {}, shell: 'sign-in' }),
  )

  server.post('/auth/link/inspect', { onRequest, schema: operations.inspectLink }, async (request, reply) =>
    reply.send(await inspect(needs, request.body.token, visitorOf(request))),
  )

  server.post('/auth/link', { onRequest, schema: operations.completeLink }, async (request, reply) => {
    const admission = await complete(needs, request.body, visitorOf(request))
    return withSession(reply, admission).send({ location: admission.returnTo })
  })
}

/** The data of the link page. Consumes nothing, because mail scanners open links and run their scripts. */
function inspect({ method, attempts, steps }: LinkRouteNeeds, token: string, visitor: Visitor) {
  return steps.complete(visitor, async (details) => {
    const link = required(method)
    details.method = link.id
    const { stateHash, address, device } = await link.find(token)
    return { own_browser: await attempts.isOwn(stateHash, visitor.cookies), address, device }
  })
}

interface SubmittedLink {
  readonly token: string
  /** Otherwise only the browser that requested the link is accepted. */
  readonly confirmed?: boolean
}

/** Signs in this browser and no other. The link stays usable if it is refused because of the browser. */
function complete(
  { method, attempts, gate, steps }: LinkRouteNeeds,
  { token, confirmed = false }: SubmittedLink,
  visitor: Visitor,
): Promise<GateResult> {
  return steps.complete(visitor, async (details) => {
    const link = required(method)
    details.method = link.id
    const { stateHash } = await link.find(token)
    if (!confirmed && !(await attempts.isOwn(stateHash, visitor.cookies))) throw otherBrowser()
    const proof = await link.use(token)
    const attempt = await attempts.claim(stateHash)
    if (attempt === undefined) throw notUsable()
    return gate.admit(proof, attempt, visitor)
  })
}

function required(method: EmailLinkMethod | undefined): EmailLinkMethod {
  if (method !== undefined) return method
  throw new Problem('not_found', 'This service does not use sign-in links. Choose another way to sign in at /signin.')
}

function otherBrowser(): Problem {
  return new Problem(
    'sign_in_failed',
    'This link was requested in another browser. Enter the code there, or confirm that you want to sign in here.',
  )
}
