import type { FastifyRequest } from 'fastify'
import type { Audit } from '../access/audit.ts'
import type { Database } from '../platform/database/database.ts'
import type { Server } from '../platform/http/http.ts'
import { Problem } from '../platform/problems.ts'
import type { Method } from './methods/method.ts'
import { deleteSessions, takeLogoutToken } from './store.ts'

interface Needs {
  readonly methods: readonly Method[]
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

/** A logout token has about a kilobyte. */
const bodyLimit = 16_384

/**
 * /auth/backchannel-logout/<provider>: the provider itself says that a person, or a session of theirs, is signed out
 * (OpenID Connect Back-Channel Logout 1.0). It is no browser: the token's signature is what lets it in.
 */
export async function registerProviderLogout(server: Server, needs: Needs): Promise<void> {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const form = 'application/x-www-form-urlencoded'
    scope.addContentTypeParser<string>(form, { parseAs: 'string' }, (_request, body, done) =>
      done(null, new URLSearchParams(body)),
    )
    scope.post<{ Params: { '*': string } }>('/auth/backchannel-logout/*', { bodyLimit }, async (request, reply) => {
      const method = needs.methods.find(({ id }) => id === request.params['*'])
      if (method === undefined) throw new Problem('not_found', 'There is no such provider here.')
      await endSessions(needs, method, request)
      return reply.code(200).send()
    })
  })
}

async function endSessions({ database, audit }: Needs, method: Method, request: FastifyRequest): Promise<void> {
  const token = request.body instanceof URLSearchParams ? request.body.get('logout_token') : null
  if (token === null) throw new Problem('sign_in_failed', 'There is no logout_token in the form.')
  const { issuer, subject, sid, jti, expiresAt } = await method.readLogout(token)
  // Together: a token that is taken while the sessions stay could not be sent again.
  const isNew = await database.transaction(async (tx) => {
    if (!(await takeLogoutToken(tx, { issuer, jti, expiresAt }))) return false
    const ended = await deleteSessions(tx, { issuer, subject, sid })
    await audit.recordWithin(
      tx,
      ended.map(({ id, personId }) => ({
        action: 'session_ended',
        outcome: 'allowed',
        actor: { kind: 'person', id: personId },
        noun: 'session',
        nounId: id,
        requestId: request.id,
        address: request.ip,
        details: { why: 'signed out at the provider', method: method.id },
      })),
    )
    return true
  })
  if (!isNew) throw new Problem('sign_in_failed', 'This logout token was taken before.')
}
