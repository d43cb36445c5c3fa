import * as operations from './operations.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Visit } from '../access/actor.ts'
import { permitted } from '../access/permitted.ts'
import type { Action } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import type { Server } from '../platform/http/server.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Guard } from '../signin/guard.ts'
import { signedOut } from '../signin/session/reply.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import type { PeopleAdmin } from './admin.ts'
import type { Grants, NamedAccount } from './grants/grants.ts'
import { registerGrants } from './grants/routes.ts'
import { presentInvitation, registerInvitations } from './invitations/routes.ts'
import type { Invitations } from './invitations/invitations.ts'
import type { People } from './people.ts'
import type { PersonChange, PersonSummary } from './person.ts'
import type { ExampleValues } from '../platform/http/examples.ts'
import type { ListedPerson, ShownHandover } from './schema.ts'

/** The number of active clients of each consultant, by the consultant's id, on behalf of a partner. */
export type CountClients = (visit: Visit) => Promise<ReadonlyMap<string, number>>

/** The hooks of a route for an action on people. */
type Allowed = (action: Action) => Guard[]

/** What a hand-over would do. */
interface Preview {
  readonly active: number
  readonly archived: number
  readonly clients: Readonly<ShownHandover['clients']>
  readonly conflicts: Readonly<ShownHandover['conflicts']>
}

/** Handing over all clients of one person to another, on behalf of a partner. */
interface HandOver {
  preview(this: void, visit: Visit, from: string, to: string | undefined): Promise<Preview>
  /** Returns how many clients were assigned. Throws Problem `invalid_field`, `conflict`. */
  perform(this: void, visit: Visit, parties: { readonly from: string; readonly to: string }): Promise<number>
}

export interface PeopleRouteNeeds {
  readonly people: People
  readonly admin: PeopleAdmin
  readonly invitations: Invitations
  readonly grants: Grants
  readonly handover: HandOver
  readonly sessions: Sessions
  readonly countClients: CountClients
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

interface ById {
  Params: { id: string }
}

/** /people, for partners: people and invitations, and everything that partners change about them. */
export function registerPeople(server: Server, needs: PeopleRouteNeeds): void {
  const allowed: Allowed = (action) => permitted(needs, action, 'person')
  registerList(server, needs, allowed)
  registerChanges(server, needs, allowed)
  registerSessionEnds(server, needs, allowed)
  registerHandover(server, needs, allowed)
  registerInvitations(server, needs, allowed)
  const show = async (visit: Visit, id: string) =>
    presentPerson(await needs.people.show(id), await countsFor(needs, visit))
  registerGrants(server, { grants: needs.grants, show }, allowed('change'))
}

function registerList(server: Server, needs: PeopleRouteNeeds, allowed: Allowed): void {
  const { people, invitations, audit } = needs
  server.get('/people', { onRequest: allowed('list'), schema: operations.listPeople }, async (request, reply) => {
    const visit = visitOf(request)
    const [all, open, counts] = await Promise.all([
      people.list(),
      invitations.list(),
      countsFor(needs, visit),
      audit.record({ ...visit, action: 'people_listed', outcome: 'allowed', noun: 'person' }),
    ])
    const data = { people: all.map((each) => presentPerson(each, counts)), invitations: open.map(presentInvitation) }
    return represent(reply, request, { data })
  })
}

/** What each person has, by the id of the person. */
interface Counts {
  readonly clients: ReadonlyMap<string, number>
  readonly identities: ReadonlyMap<string, number>
  readonly accounts: ReadonlyMap<string, readonly NamedAccount[]>
}

async function countsFor({ countClients, admin, grants }: PeopleRouteNeeds, visit: Visit): Promise<Counts> {
  const [clients, identities, accounts] = await Promise.all([
    countClients(visit),
    admin.countIdentities(),
    grants.list(),
  ])
  return { clients, identities, accounts }
}

function presentPerson(person: PersonSummary, { clients, identities, accounts }: Counts): ListedPerson {
  const { id, name, email, role, status, createdAt, lastSignedInAt } = person
  return {
    id,
    name,
    email,
    role,
    status,
    clients: clients.get(id) ?? 0,
    identities: identities.get(id) ?? 0,
    accounts: [...(accounts.get(id) ?? [])],
    created_at: createdAt.toISOString(),
    last_signed_in_at: lastSignedInAt?.toISOString() ?? null,
  }
}

function registerChanges(server: Server, needs: PeopleRouteNeeds, allowed: Allowed): void {
  const { admin } = needs
  server.patch<ById & { Body: PersonChange }>(
    '/people/:id',
    { onRequest: allowed('change'), schema: operations.changePerson },
    async (request) => {
      const visit = visitOf(request)
      const person = await admin.change(request.params.id, request.body, visit)
      return presentPerson(person, await countsFor(needs, visit))
    },
  )

  server.delete<ById>(
    '/people/:id',
    { onRequest: allowed('remove'), schema: operations.deletePerson },
    async (request, reply) => {
      await admin.remove(request.params.id, visitOf(request))
      return reply.code(204).send()
    },
  )

  server.delete<ById>(
    '/people/:id/identities',
    { onRequest: allowed('change'), schema: operations.unlinkIdentities },
    async (request, reply) => reply.send({ unlinked: await admin.unlink(request.params.id, visitOf(request)) }),
  )

  server.delete<ById>(
    '/people/:id/factors',
    { onRequest: allowed('change'), schema: operations.resetFactors },
    async (request, reply) => {
      await admin.resetFactors(request.params.id, visitOf(request))
      return reply.code(204).send()
    },
  )
}

function registerSessionEnds(server: Server, { people, sessions }: PeopleRouteNeeds, allowed: Allowed): void {
  const onRequest = allowed('change')
  server.delete<ById>(
    '/people/:id/sessions',
    { onRequest, schema: operations.endPersonSessions },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const ended = await sessions.end({ personId: id }, visitOf(request))
      return reply.send({ ended: ended.length })
    },
  )

  server.delete('/people/sessions', { onRequest, schema: operations.endAllSessions }, async (request, reply) => {
    const ended = await sessions.endAll(visitOf(request))
    return signedOut(reply, sessions).send({ ended: ended.length })
  })
}

interface PreviewRoute extends ById {
  Querystring: Readonly<Record<string, unknown>>
}

function registerHandover(server: Server, { people, handover }: PeopleRouteNeeds, allowed: Allowed): void {
  const onRequest = allowed('change')

  server.get<PreviewRoute>(
    '/people/:id/handover',
    { onRequest, schema: operations.previewHandover },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const { to } = request.query
      const preview = await handover.preview(visitOf(request), id, typeof to === 'string' ? to : undefined)
      return reply.send({ ...preview, clients: [...preview.clients], conflicts: [...preview.conflicts] })
    },
  )

  server.post<ById & { Body: { to: string } }>(
    '/people/:id/handover',
    { onRequest, schema: operations.performHandover },
    async (request, reply) => {
      const { id } = await people.show(request.params.id)
      const parties = { from: id, to: request.body.to }
      return reply.send({ handed_over: await handover.perform(visitOf(request), parties) })
    },
  )
}

/** People and clients of the demo's fictional firm, for the documentation. */
export const peopleExamples = {
  People: {
    name: 'Daniel Osei',
    email: 'daniel@example.com',
    'invited_by.name': 'Ruth Penhallow',
    'clients.name': 'Harbour Lane Bakery',
    'clients.reference': 'PA-1031',
    conflicts: [],
    to: '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35',
    link: 'https://tollgate.example.com/signin/invitation#Q2hhbmdlIG1lIGJlZm9yZSB1c2U',
    'changePerson.request': { role: 'partner' },
    accounts: [],
    account: '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16',
    'grantAccount.response.role': 'developer',
    'grantAccount.response.accounts': [{ id: '0199c3b1-6d20-7f3e-a1c8-52e7d90b4f16', name: 'Acme' }],
  },
} satisfies ExampleValues
