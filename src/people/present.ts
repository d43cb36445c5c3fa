import type { Invitation, SentInvitation } from './invitations/invitations.ts'
import type { PersonSummary } from './person.ts'
import type { ListedInvitation, ListedPerson, ShownInvitation } from './schema.ts'

/** What each person has, by the id of the person. */
export interface Counts {
  readonly clients: ReadonlyMap<string, number>
  readonly identities: ReadonlyMap<string, number>
}

export function presentPerson(person: PersonSummary, { clients, identities }: Counts): ListedPerson {
  const { id, name, email, role, status, createdAt, lastSignedInAt } = person
  return {
    id,
    name,
    email,
    role,
    status,
    clients: clients.get(id) ?? 0,
    identities: identities.get(id) ?? 0,
    created_at: createdAt.toISOString(),
    last_signed_in_at: lastSignedInAt?.toISOString() ?? null,
  }
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

export function presentSent({ invitation, link }: SentInvitation): ShownInvitation {
  return { invitation: presentInvitation(invitation), ...(link !== undefined && { link }) }
}
