import type { Role } from '../access/actor.ts'

export type Status = 'active' | 'disabled'

/** A person who may sign in now. */
export interface Person {
  readonly id: string
  readonly name: string
  /** Null if the person is known by an identity alone. */
  readonly email: string | null
  readonly role: Role
}

/** A person in the list of people, active or disabled. */
export interface PersonSummary extends Person {
  readonly status: Status
  readonly createdAt: Date
  readonly lastSignedInAt: Date | null
}

export interface PersonChange {
  readonly role?: Role
  readonly status?: Status
  readonly name?: string
  readonly email?: string
}

/** A person's issuer and subject at an OpenID provider. Only these decide who signs in there; an address never does. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** An identity with its id, which names it in URLs. */
export interface ListedIdentity extends Identity {
  readonly id: string
  readonly createdAt: Date
}
