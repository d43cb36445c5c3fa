/** What people may be, in the order in which they are offered. */
export const roles = ['consultant', 'partner', 'developer'] as const

/** What a person may do: a consultant works on their own clients, a partner on every client, and a developer sees the accounts granted to them. */
export type Role = (typeof roles)[number]

/** A person who is signed in. */
export interface PersonActor {
  readonly kind: 'person'
  readonly id: string
  readonly role: Role
}

/** Who performs an action. */
export type Actor =
  | PersonActor
  /** The command line, with the name of the operating-system user. */
  | { readonly kind: 'command'; readonly user: string }
  /** An API key, by its id. */
  | { readonly kind: 'key'; readonly id: string }
  /** Tollgate itself, acting on its configuration or a schedule. */
  | { readonly kind: 'service' }
  /** Someone who has not signed in. */
  | { readonly kind: 'visitor' }

/** An actor as the audit log records it. */
export type RecordedActor = Omit<PersonActor, 'role'> | Exclude<Actor, PersonActor>

/** The HTTP request that causes an action; empty outside of HTTP. */
export interface RequestOrigin {
  readonly requestId?: string | undefined
  /** The network address of the sender. */
  readonly address?: string | undefined
}

/** An actor and the request that they sent. */
export interface Visit extends RequestOrigin {
  readonly actor: Actor
}

/** Tollgate acting by itself. */
export const byService: Visit = Object.freeze({ actor: Object.freeze({ kind: 'service' }) })

export function personActor({ id, role }: Omit<PersonActor, 'kind'>): PersonActor {
  return { kind: 'person', id, role }
}

/** The id of the person who acts; undefined for any other actor. */
export function personIdOf(actor: Actor): string | undefined {
  return actor.kind === 'person' ? actor.id : undefined
}
