import { visitOf } from '../access/visits.ts'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import { represent } from '../platform/http/representation.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { sameOrigin, sessionOf, signedIn } from './guard.ts'
import * as operations from './operations.ts'
import { signedOut } from './routes.ts'
import type { Me } from './schema.ts'
import type { Session, Sessions, SessionSummary } from './sessions.ts'
import type { SignIn } from './signin.ts'

interface MeNeeds {
  readonly sessions: Sessions
  readonly signIn: Pick<SignIn, 'methods'>
  readonly baseUrl: string
}

/** /me: the person who is signed in, and their sessions, which can be ended one by one or all at once. */
export function registerMe(server: Server, { sessions, signIn, baseUrl }: MeNeeds): void {
  const names = new Map(signIn.methods.map(({ id, name }) => [id, name]))
  const onRequest = [sameOrigin(baseUrl), signedIn(sessions)]

  server.get('/me', { onRequest, schema: operations.readMe }, async (request, reply) => {
    const session = sessionOf(request)
    return represent(reply, request, { data: presentMe(session, await sessions.list(session.person.id), names) })
  })

  server.delete<{ Params: { id: string } }>(
    '/me/sessions/:id',
    { onRequest, schema: operations.endSession },
    async (request, reply) => {
      const { id: current, person } = sessionOf(request)
      const { id } = request.params
      const ended = isUuid(id) ? await sessions.end({ personId: person.id, id }, visitOf(request)) : []
      if (ended.length === 0) throw new Problem('not_found', 'You have no such session. It may have ended already.')
      return (id.toLowerCase() === current ? signedOut(reply, sessions) : reply).send({ ended: ended.length })
    },
  )

  server.delete('/me/sessions', { onRequest, schema: operations.endSessions }, async (request, reply) => {
    const ended = await sessions.end({ personId: sessionOf(request).person.id }, visitOf(request))
    return signedOut(reply, sessions).send({ ended: ended.length })
  })
}

function presentMe(
  { id, person, endsAt, idleEndsAt }: Session,
  all: readonly SessionSummary[],
  names: ReadonlyMap<string, string>,
): Me {
  return {
    person,
    session: {
      id,
      expires_at: endsAt.toISOString(),
      idle_ends_at: idleEndsAt.toISOString(),
      idle_seconds: Math.max(0, Math.floor((idleEndsAt.getTime() - Date.now()) / 1000)),
    },
    sessions: all.map((each) => ({
      id: each.id,
      method: each.method,
      // A method that has been removed from the configuration has only its id.
      method_name: names.get(each.method) ?? each.method,
      factors: [...each.factors],
      device: each.device,
      address: each.network,
      created_at: each.createdAt.toISOString(),
      last_seen_at: each.lastSeenAt.toISOString(),
      current: each.id === id,
    })),
  }
}
