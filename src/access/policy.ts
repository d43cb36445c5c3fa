import type { Actor, Role } from './actor.ts'

/** What may be looked at or changed. */
export type Noun = 'client' | 'note' | 'dispute' | 'letter' | 'person' | 'audit'
/** What is done with it. `assign` gives a client to a consultant, `remove` takes a record out of everybody's sight. */
export type Action = 'list' | 'read' | 'create' | 'change' | 'assign' | 'remove'

/** What a condition may depend on. */
export interface Facts {
  /** The consultant of the client record that it is about. */
  readonly consultantId?: string | undefined
}

const conditions = {
  always: () => true,
  never: () => false,
  /** The client belongs to this very consultant. */
  own: (actor, { consultantId }) => actor.kind === 'person' && actor.id === consultantId,
} satisfies Record<string, (actor: Actor, facts: Facts) => boolean>

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

/**
 * The role whose rules apply to an actor. The command line and the service have a partner's. Undefined for API keys and
 * for visitors, who may do nothing here.
 */
export function roleOf(actor: Actor): Role | undefined {
  switch (actor.kind) {
    case 'person':
      return actor.role
    case 'command':
    case 'service':
      return 'partner'
    case 'key':
    case 'visitor':
      return undefined
  }
}

/** Whether the policy permits an action, given the facts about its object. */
export function may(actor: Actor, action: Action, noun: Noun, facts: Facts = {}): boolean {
  return conditions[conditionFor(actor, action, noun)](actor, facts)
}

function conditionFor(actor: Actor, action: Action, noun: Noun): Condition {
  const role = roleOf(actor)
  return role === undefined ? 'never' : policy[role][noun][action]
}

/** Which records an action reaches: those of one consultant, all, or none. A statement on records carries it. */
export type Scope =
  | { readonly of: 'consultant'; readonly id: string }
  | { readonly of: 'all' }
  | { readonly of: 'none' }

/** The same decision for records that are not read yet. */
export function scopeOf(actor: Actor, action: Action, noun: Noun): Scope {
  switch (conditionFor(actor, action, noun)) {
    case 'always':
      return { of: 'all' }
    case 'own':
      return actor.kind === 'person' ? { of: 'consultant', id: actor.id } : { of: 'none' }
    case 'never':
      return { of: 'none' }
  }
}
