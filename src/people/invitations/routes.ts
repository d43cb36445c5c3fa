import { visitOf } from '../../access/visits.ts'
import type { Server } from '../../platform/http/server.ts'
import type { Guard } from '../../signin/guard.ts'
import type { Invitation, Invitations, SentInvitation } from './invitations.ts'
import * as operations from '../operations.ts'
import type { ListedInvitation, ShownInvitation } from '../schema.ts'

type Allowed = (action: 'create' | 'change' | 'remove') => Guard[]

/** /people/invitations. The list of invitations is part of GET /people. */
export function registerInvitations(
  server: Server,
  { invitations }: { readonly invitations: Invitations },
  allowed: Allowed,
): void {
  server.post(
    '/people/invitations',
    { onRequest: allowed('create'), schema: operations.invite },
    async (request, reply) =>
      reply.code(201).send(presentSent(await invitations.create(request.body, visitOf(request)))),
  )

  server.post<{ Params: { id: string } }>(
    '/people/invitations/:id/resend',
    { onRequest: allowed('change'), schema: operations.resendInvitation },
    async (request, reply) => reply.send(presentSent(await invitations.resend(request.params.id, visitOf(request)))),
  )

  server.delete<{ Params: { id: string } }>(
    '/people/invitations/:id',
    { onRequest: allowed('remove'), schema: operations.withdrawInvitation },
    async (request, reply) => {
      await invitations.withdraw(request.params.id, visitOf(request))
      return reply.code(204).send()
    },
  )
}

function presentSent({ invitation, link }: SentInvitation): ShownInvitation {
  return { invitation: presentInvitation(invitation), ...(link !== undefined && { link }) }
}

export function presentInvitation(invitation: Invitation): ListedInvitation {
  const { id, email, name, role, invitedBy, createdAt, expiresAt } = invitation
  return {
    id,
    email,
    name,
    role,
    invited_by: invitedBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
}
