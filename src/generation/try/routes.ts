import type { FastifyRequest } from 'fastify'
import { personActor } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import { permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import type { Caller, Keys } from '../../accounts/keys/keys.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import { sameOrigin, sessionOf, signedIn } from '../../signin/guard.ts'
import type { Sessions } from '../../signin/session/sessions.ts'
import { registerCalls, type Callers, type CallsNeeds } from '../calls/calls.ts'
import { findTryAccount, shownFault, tryAccount } from './payment.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What of the account the operation reads. A person who tries it needs the permission to read that. */
    reads?: 'usage' | 'account'
  }
}

interface TryItNeeds {
  readonly keys: Pick<Keys, 'scratch'>
  readonly accounts: Pick<Accounts, 'find'>
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly audit: Pick<Audit, 'record'>
  readonly tryIt: Config['try_it']
  readonly baseUrl: string
}

/** Below this URL, people who are signed in make the calls of `/v1`: `/try/v1/generate`. */
export const tryItUrl = '/try'

/**
 * Registers the calls for the pages of the documentation. They take the same path as calls with an API key. Only the caller
 * is found in another way: by the session, as the scratch key of the person.
 */
export function registerTryIt(server: Server, calls: CallsNeeds, needs: TryItNeeds): void {
  const { accounts, sessions, tryIt } = needs
  server.jsonOnlyUrls.add(tryItUrl, { noStore: true })

  // Not a refusal for visitors: the documentation is for everyone, and shows them the way to the sign-in.
  server.get(tryItUrl, { schema: { hide: true } }, async ({ headers }) => {
    const session = await sessions.recognise(headers.cookie)
    if (session === undefined) return { person: null, fault: null }
    const { id, name, role } = session.person
    const account = await findTryAccount(accounts, tryIt)
    const fault = typeof account === 'string' ? shownFault(account, personActor(session.person)) : null
    return { person: { id, name, role }, fault }
  })

  void server.register(
    async (scope: Server) => {
      scope.addHook('onRoute', (route) => void Object.assign(route, { schema: { ...route.schema, hide: true } }))
      registerCalls(scope, withScratchKeys(needs), calls)
    },
    { prefix: `${tryItUrl}/v1` },
  )
}

/** The callers that are signed in. */
function withScratchKeys({ keys, accounts, tryIt, ...portal }: TryItNeeds): Callers {
  const everyone = [sameOrigin(portal.baseUrl), signedIn(portal.sessions)]
  const readers = { usage: permitted(portal, 'read', 'usage'), account: permitted(portal, 'read', 'account') }

  async function callerOfSession(request: FastifyRequest): Promise<Caller> {
    const { person } = sessionOf(request)
    const { id: accountId } = await tryAccount(accounts, tryIt, personActor(person))
    return keys.scratch({ person, accountId }, visitOf(request))
  }

  return {
    async identify(request) {
      const { reads } = request.routeOptions.config
      for (const guard of reads === undefined ? everyone : readers[reads]) await guard(request)
      if (request.headers['idempotency-key'] !== undefined) throw notStored()
      const caller = await callerOfSession(request)
      if (reads !== undefined) await portal.audit.record(readBy(request, reads, caller))
      return caller
    },
    // The session was looked up again before.
    identifyAgain: callerOfSession,
    async checkClient() {
      throw new Problem('invalid_field', 'A call that you try here cannot name a client: omit metadata.client_id.', {
        field: 'metadata.client_id',
      })
    },
  }
}

/** A stored reply belongs to its account, which also pays for others' calls and drafts: they must not be found by their keys. */
const notStored = () =>
  new Problem('invalid_field', 'A call that you try here is not stored for retries: omit the header Idempotency-Key.', {
    field: 'Idempotency-Key',
  })

function readBy(request: FastifyRequest, reads: 'usage' | 'account', { accountId }: Caller) {
  const details = { account: accountId }
  return {
    ...visitOf(request),
    action: `${reads}_read`,
    outcome: 'allowed',
    noun: reads,
    ...(reads === 'account' ? { nounId: accountId } : { details }),
  } as const
}
