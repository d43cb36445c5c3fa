import type { Audit } from '../access/audit.ts'
import type { Visit } from '../access/actor.ts'
import { may, type Action } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import { represent } from '../platform/http/representation.ts'
import { sameOrigin, signedIn, type Guard } from '../signin/guard.ts'
import type { Sessions } from '../signin/sessions.ts'
import type { People } from './people.ts'
import type { PersonChange, PersonSummary } from './person.ts'
import * as operations from './operations.ts'
import type { ListedPerson } from './schema.ts'

/** The number of active clients of each consultant, by the consultant's id, on behalf of a partner. */
export type CountClients = (visit: Visit) => Promise<ReadonlyMap<string, number>>

interface PeopleRouteNeeds {
  readonly people: People
  readonly sessions: Sessions
  readonly countClients: CountClients
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** /people, for partners: the list of people, their roles and status, and the end of their sessions. */
export function registerPeople(server: Server, needs: PeopleRouteNeeds): void {
  const { people, sessions, countClients, audit, baseUrl } = needs
  const allowed = (action: Action) => [sameOrigin(baseUrl), signedIn(sessions), permitted(audit, action)]

  server.get('/people', { onRequest: allowed('list'), schema: operations.listPeople }, async (request, reply) => {
    const visit = visitOf(request)
    const [all, counts] = await Promise.all([
      people.list(),
      countClients(visit),
      audit.record({ ...visit, action: 'people_listed', outcome: 'allowed', noun: 'person' }),
    ])
    return represent(reply, request, { data: { people: all.map((person) => present(person, counts)) } })
  })

  server.patch<{ Params: { id: string }; Body: PersonChange }>(
    '/people/:id',
    { onRequest: allowed('change'), schema: operations.changePerson },
    async (request) => {
      const visit = visitOf(request)
      const person = await people.change(request.params.id, request.body, visit)
      return present(person, await countClients(visit))
    },
  )

  server.delete<{ Params: { id: string } }>(
    '/people/:id/sessions',
    { onRequest: allowed('change'), schema: operations.endPersonSessions },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const ended = await sessions.end({ personId: id }, visitOf(request))
      return reply.send({ ended: ended.length })
    },
  )
}

function permitted(audit: Pick<Audit, 'record'>, action: Action): Guard {
  return async (request) => {
    const visit = visitOf(request)
    if (may(visit.actor, action, 'person')) return
    await audit.record({
      ...visit,
      action: 'access_denied',
      outcome: 'refused',
      noun: 'person',
      details: { action },
    })
    throw new Problem('forbidden', 'Only partners of the firm may do this.')
  }
}

function present(person: PersonSummary, clients: ReadonlyMap<string, number>): ListedPerson {
  const { id, name, email, role, status, createdAt, lastSignedInAt } = person
  return {
    id,
    name,
    email,
    role,
    status,
    clients: clients.get(id) ?? 0,
    created_at: createdAt.toISOString(),
    last_signed_in_at: lastSignedInAt?.toISOString() ?? null,
  }
}
