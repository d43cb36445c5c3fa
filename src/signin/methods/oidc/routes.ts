import type { FastifyRequest } from 'fastify'
import type { Audit } from '../../../access/audit/audit.ts'
import type { Database } from '../../../platform/database/database.ts'
import type { Server } from '../../../platform/http/server.ts'
import { Problem } from '../../../platform/problems.ts'
import { readWaiting } from '../../attempt/attempts-store.ts'
import { providerLogout } from '../../operations.ts'
import type { LogoutNotice, RedirectMethod } from '../method.ts'
import type { Refusals } from '../../refused-visitors.ts'
import { endSessions } from '../../session/end.ts'
import { byOwner } from '../../session/start.ts'
import type { EndedSession } from '../../session/store.ts'
import { acceptLogoutToken } from './store.ts'
import { visitorOf } from '../../visitor/visitor.ts'

interface Needs {
  readonly methods: readonly RedirectMethod[]
  readonly refusals: Refusals
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

/** A logout token has about 1 KiB. */
const bodyLimit = 16_384

/**
 * /auth/backchannel-logout/<provider>: the provider reports that a person, or one of their sessions, has signed out
 * (OpenID Connect Back-Channel Logout 1.0). No browser sends this: the token's signature authenticates it.
 */
export async function registerProviderLogout(server: Server, needs: Needs): Promise<void> {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const form = 'application/x-www-form-urlencoded'
    scope.addContentTypeParser<string>(form, { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(body)),
    )
    const advice = `Send logout_token in a form, with the header "Content-Type: ${form}".`
    scope.addContentTypeParser('*', (_request, _payload, done) => done(new Problem('unsupported_media_type', advice)))
    scope.post<{ Params: { '*': string } }>(
      '/auth/backchannel-logout/*',
      { bodyLimit, schema: providerLogout },
      async (request, reply) => {
        const method = needs.methods.find(({ id }) => id === request.params['*'])
        if (method === undefined) throw new Problem('not_found', 'There is no such provider.')
        await receive(needs, method, request)
        return reply.code(200).send()
      },
    )
  })
}

async function receive(needs: Needs, method: RedirectMethod, request: FastifyRequest): Promise<void> {
  try {
    const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null
    if (token === null) throw new Problem('sign_in_failed', 'The form has no logout_token.')
    const isNew = await accept(needs, method, await method.readLogout(token), request)
    if (!isNew) throw new Problem('sign_in_failed', 'This logout token was used before.')
  } catch (error) {
    if (error instanceof Problem && error.code === 'sign_in_failed') {
      const details = { method: method.id, issuer: method.issuer, why: error.message }
      await needs.refusals.record(visitorOf(request), { action: 'provider_logout_failed', details })
    }
    throw error
  }
}

/** In one transaction: a token that was accepted without ending the sessions could not be sent again. */
function accept(
  { database, audit }: Needs,
  { id: method }: RedirectMethod,
  { issuer, subject, sid, jti, expiresAt }: LogoutNotice,
  request: FastifyRequest,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await acceptLogoutToken(tx, { issuer, jti, expiresAt }))) return false
    const people = await readWaiting(tx, { method, issuer, subject, sid })
    const details = { why: 'signed out at the provider', method }
    const origin = { requestId: request.id, address: request.ip }
    const entryOf = (session: EndedSession) => ({
      action: 'session_ended',
      ...byOwner(session),
      ...origin,
      details,
    })
    await endSessions(tx, audit, { which: { issuer, subject, sid }, people, entryOf })
    return true
  })
}
