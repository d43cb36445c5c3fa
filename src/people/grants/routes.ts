import { visitOf } from '../../access/visits.ts'
import type { Visit } from '../../access/actor.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Guard } from '../../signin/guard.ts'
import type { ListedPerson } from '../schema.ts'
import * as operations from '../operations.ts'
import type { Grants } from './grants.ts'

interface GrantRouteNeeds {
  readonly grants: Grants
  /** The person as the list of people shows them. */
  readonly show: (visit: Visit, id: string) => Promise<ListedPerson>
}

/** /people/:id/accounts: which accounts a developer sees. */
export function registerGrants(server: Server, { grants, show }: GrantRouteNeeds, onRequest: Guard[]): void {
  server.post<{ Params: { id: string }; Body: { account: string } }>(
    '/people/:id/accounts',
    { onRequest, schema: operations.grantAccount },
    async (request) => {
      const [visit, { id: personId }] = [visitOf(request), request.params]
      await grants.grant({ personId, accountId: request.body.account }, visit)
      return show(visit, personId)
    },
  )

  server.delete<{ Params: { id: string; account: string } }>(
    '/people/:id/accounts/:account',
    { onRequest, schema: operations.removeGrant },
    async (request, reply) => {
      const { id: personId, account: accountId } = request.params
      await grants.revoke({ personId, accountId }, visitOf(request))
      return reply.code(204).send()
    },
  )
}
