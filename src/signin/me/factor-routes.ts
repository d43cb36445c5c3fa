import type { FastifyRequest } from 'fastify'
import type { Audit } from '../../access/audit/audit.ts'
import { permitted } from '../../access/permitted.ts'
import type { Action } from '../../access/policy.ts'
import { visitOf } from '../../access/visits.ts'
import type { Server } from '../../platform/http/server.ts'
import { checkName } from '../../platform/text/one-line.ts'
import type { EnrolmentResult } from '../attempt/enrolments.ts'
import { sessionOf } from '../guard.ts'
import { recentUntil } from '../session/recent-sign-in.ts'
import * as operations from './operations.ts'
import type { OwnChange } from './own.ts'
import type { Sessions } from '../session/sessions.ts'
import type { SignIn } from '../signin.ts'
import { visitorOf } from '../visitor/visitor.ts'

interface Needs {
  readonly sessions: Sessions
  readonly signIn: Pick<SignIn, 'own'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

type ById = { Params: { id: string } }

/** Changes that people make to their own sign-in: confirmations, second factors, recovery codes, identities. */
export function registerMyFactors(server: Server, needs: Needs): void {
  const { sessions, signIn } = needs
  const { confirmation, factors, identities } = signIn.own
  const allowed = (action: Action) => permitted(needs, action, 'own_sign_in')

  server.post<{ Body: { factor: string } }>(
    '/me/confirmation/start',
    { onRequest: allowed('change'), schema: operations.startConfirmation },
    async (request) => ({
      challenge: await confirmation.begin(changeBy(request), request.body.factor, visitorOf(request)),
    }),
  )

  server.post<{ Body: { factor: string; input?: unknown } }>(
    '/me/confirmation',
    { onRequest: allowed('change'), schema: operations.completeConfirmation },
    async (request, reply) => {
      const { factor, input } = request.body
      const value = await confirmation.complete(changeBy(request), factor, { input, visitor: visitorOf(request) })
      const until = recentUntil({ provenAt: new Date() })
      return reply.header('set-cookie', sessions.cookie(value)).send({ recent_until: new Date(until).toISOString() })
    },
  )

  server.post<ById & { Body: { input?: unknown } }>(
    '/me/factors/:id/start',
    { onRequest: allowed('create'), schema: operations.startOwnFactor },
    async (request) => {
      const { params, body } = request
      const visitor = visitorOf(request)
      return { challenge: await factors.begin(changeBy(request), params.id, { input: body.input, visitor }) }
    },
  )

  server.post<ById & { Body: { input?: unknown; name?: string } }>(
    '/me/factors/:id',
    { onRequest: allowed('create'), schema: operations.completeOwnFactor },
    async (request) => {
      const { params, body } = request
      const name = body.name === undefined ? visitorOf(request).device : checkName(body.name)
      return presentResult(await factors.complete(changeBy(request), params.id, { input: body.input, name }))
    },
  )

  server.delete<ById>(
    '/me/factors/:id',
    { onRequest: allowed('remove'), schema: operations.removeOwnFactor },
    async (request) => ({
      ended: await factors.remove(changeBy(request), request.params.id),
    }),
  )

  server.post(
    '/me/recovery-codes',
    { onRequest: allowed('change'), schema: operations.renewRecoveryCodes },
    async (request) => presentResult(await factors.renewRecoveryCodes(changeBy(request))),
  )

  server.delete<ById>(
    '/me/identities/:id',
    { onRequest: allowed('remove'), schema: operations.unlinkIdentity },
    async (request) => ({
      ended: await identities.unlink(changeBy(request), request.params.id),
    }),
  )
}

function changeBy(request: FastifyRequest): OwnChange {
  return { session: sessionOf(request), by: visitOf(request) }
}

function presentResult({ ended, recoveryCodes }: EnrolmentResult) {
  return { ended, ...(recoveryCodes && { recovery_codes: recoveryCodes }) }
}
