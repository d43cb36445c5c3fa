import type { Role } from '../people/people.ts'

/** What may be looked at or changed. */
export type Noun = 'client' | 'note' | 'dispute' | 'letter' | 'person' | 'audit'
/** What is done with it. `assign` gives a client to a consultant, `remove` takes a record out of everybody's sight. */
export type Action = 'list' | 'read' | 'create' | 'change' | 'assign' | 'remove'

/** Whom the policy decides about. The operator at the command line has no id and sees what a partner sees. */
export interface Subject {
  readonly id: string | null
  readonly role: Role
}

/** What a condition may depend on. */
export interface Facts {
  /** The consultant of the client record that it is about. */
  readonly consultantId?: string | undefined
}

const conditions = {
  always: () => true,
  never: () => false,
  /** The client belongs to this very consultant. */
  own: ({ id }: Subject, { consultantId }: Facts) => consultantId === id,
} satisfies Record<string, (subject: Subject, facts: Facts) => boolean>

type Condition = keyof typeof conditions

const all = (condition: Condition): Readonly<Record<Action, Condition>> => ({
  list: condition,
  read: condition,
  create: condition,
  change: condition,
  assign: condition,
  remove: condition,
})

/**
 * Who may do what (sections 2.7 and 5.2 of the specification): a consultant works on the clients that belong to them, a
 * partner on every one. PostgreSQL's row-level security says the same once more: migrations/0004_records.sql.
 */
const policy: Readonly<Record<Role, Readonly<Record<Noun, Readonly<Record<Action, Condition>>>>>> = {
  consultant: {
    client: { ...all('own'), assign: 'never', remove: 'never' },
    note: all('own'),
    dispute: all('own'),
    letter: all('own'),
    person: all('never'),
    audit: all('never'),
  },
  partner: {
    client: all('always'),
    note: all('always'),
    dispute: all('always'),
    letter: all('always'),
    person: all('always'),
    audit: { ...all('never'), list: 'always', read: 'always' },
  },
}

/** Whether the policy lets a person do it, knowing whose it is. */
export function may(subject: Subject, action: Action, noun: Noun, facts: Facts = {}): boolean {
  return conditions[policy[subject.role][noun][action]](subject, facts)
}

/** Which records an action reaches: those of one consultant, all, or none. A statement on records carries it. */
export type Scope =
  | { readonly of: 'consultant'; readonly id: string }
  | { readonly of: 'all' }
  | { readonly of: 'none' }

/** The same decision for records that are not read yet. */
export function scopeOf({ id, role }: Subject, action: Action, noun: Noun): Scope {
  switch (policy[role][noun][action]) {
    case 'always':
      return { of: 'all' }
    case 'own':
      return id === null ? { of: 'none' } : { of: 'consultant', id }
    case 'never':
      return { of: 'none' }
  }
}
