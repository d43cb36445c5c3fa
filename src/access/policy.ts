import type { Actor, Role } from './actor.ts'

/** A kind of object that the policy protects. `own_sign_in`: the sessions of a person, and how they sign in. */
export type Resource =
  | 'client'
  | 'note'
  | 'dispute'
  | 'letter'
  | 'document'
  | 'task'
  | 'contact'
  | 'time_entry'
  | 'expense'
  | 'person'
  | 'audit'
  | 'usage'
  | 'account'
  | 'key'
  | 'model'
  | 'invoice'
  | 'own_sign_in'

/**
 * An action on a protected object. `approve` lets a letter leave as it is; `assign` gives a client to a consultant; `remove` deletes a
 * record or revokes a key; `export` writes all of a client's data to one file; `erase` removes it permanently.
 */
export type Action = 'list' | 'read' | 'create' | 'change' | 'approve' | 'assign' | 'remove' | 'export' | 'erase'

/** Who may approve letters: `letters.approval` of the configuration. */
export type ApprovalRule = 'anyone' | 'not-writer' | 'partners'

/** The facts that a condition may depend on. */
export interface Facts {
  /** The consultant of the client record. */
  readonly consultantId?: string | undefined
  /** Whether the actor was granted the account. */
  readonly isGranted?: boolean | undefined
  /** The rule of the firm, and whether the actor wrote any of the letter's text. */
  readonly approval?: { readonly rule: ApprovalRule; readonly wrote: boolean } | undefined
}

const isOwn = (actor: Actor, { consultantId }: Facts) => actor.kind === 'person' && actor.id === consultantId

const isApprovable = (actor: Actor, { approval }: Facts) => {
  switch (approval?.rule) {
    case 'anyone':
      return true
    case 'not-writer':
      return !approval.wrote
    case 'partners':
      return roleOf(actor) === 'partner'
    case undefined:
      return false
  }
}

const conditions = {
  always: () => true,
  never: () => false,
  /** The client belongs to the actor. */
  own: isOwn,
  /** The rule of the firm lets the actor approve the letter. */
  approvable: isApprovable,
  own_approvable: (actor, facts) => isOwn(actor, facts) && isApprovable(actor, facts),
  /** The account was granted to the actor. */
  granted: (_actor, { isGranted }) => isGranted === true,
} satisfies Record<string, (actor: Actor, facts: Facts) => boolean>

type Condition = keyof typeof conditions

const all = (condition: Condition): Readonly<Record<Action, Condition>> => ({
  list: condition,
  read: condition,
  create: condition,
  change: condition,
  approve: condition,
  assign: condition,
  remove: condition,
  export: condition,
  erase: condition,
})

/** May be looked at, and not changed. */
const seen = (condition: Condition) => ({ ...all('never'), list: condition, read: condition })

/**
 * The policy (sections 2.7 and 5.2 of the specification): a consultant works on the clients that belong to them, a
 * partner on every client, and everyone on their own sign-in; a developer sees the accounts that they are granted. PostgreSQL's row-level
 * security enforces the same rules (`create policy` in migrations).
 */
const policy: Readonly<Record<Role, Readonly<Record<Resource, Readonly<Record<Action, Condition>>>>>> = {
  consultant: {
    client: { ...all('own'), assign: 'never', remove: 'never', erase: 'never' },
    note: all('own'),
    dispute: all('own'),
    letter: { ...all('own'), approve: 'own_approvable' },
    document: all('own'),
    task: all('own'),
    contact: all('own'),
    time_entry: all('own'),
    expense: all('own'),
    person: all('never'),
    audit: all('never'),
    usage: all('never'),
    account: all('never'),
    key: all('never'),
    model: all('never'),
    invoice: all('never'),
    own_sign_in: all('always'),
  },
  developer: {
    client: all('never'),
    note: all('never'),
    dispute: all('never'),
    letter: all('never'),
    document: all('never'),
    task: all('never'),
    contact: all('never'),
    time_entry: all('never'),
    expense: all('never'),
    person: all('never'),
    audit: all('never'),
    usage: seen('granted'),
    account: seen('granted'),
    key: seen('granted'),
    model: all('never'),
    invoice: all('never'),
    own_sign_in: all('always'),
  },
  partner: {
    client: all('always'),
    note: all('always'),
    dispute: all('always'),
    letter: { ...all('always'), approve: 'approvable' },
    document: all('always'),
    task: all('always'),
    contact: all('always'),
    time_entry: all('always'),
    expense: all('always'),
    person: all('always'),
    audit: seen('always'),
    usage: seen('always'),
    account: all('always'),
    key: all('always'),
    model: all('always'),
    invoice: all('always'),
    own_sign_in: all('always'),
  },
}

/**
 * The role whose rules apply to an actor: a partner's for the command line and the service. Undefined for API keys and
 * visitors, which have no access to records.
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

/** What a person reads about the configuration: only partners know those who can change it. */
export function byRole(actor: Actor, texts: { readonly partner: string; readonly consultant: string }): string {
  return roleOf(actor) === 'partner' ? texts.partner : texts.consultant
}

/** Whether the policy permits an action, given the facts about its object. What a refused actor gets is in access.ts (`refuse`). */
export function may(actor: Actor, action: Action, resource: Resource, facts: Facts = {}): boolean {
  return conditions[conditionFor(actor, action, resource)](actor, facts)
}

/** Whether the policy permits the action on some object. Which, is decided with the facts about it. */
export function mayOnSome(actor: Actor, action: Action, resource: Resource): boolean {
  return conditionFor(actor, action, resource) !== 'never'
}

function conditionFor(actor: Actor, action: Action, resource: Resource): Condition {
  const role = roleOf(actor)
  return role === undefined ? 'never' : policy[role][resource][action]
}

/** The records that an action may reach: those of one consultant, all, or none. Every statement on records applies it. */
export type Scope =
  | { readonly of: 'consultant'; readonly id: string }
  | { readonly of: 'all' }
  | { readonly of: 'none' }

/** The same decision, as a condition on records that are not read yet. */
export function scopeOf(actor: Actor, action: Action, resource: Resource): Scope {
  switch (conditionFor(actor, action, resource)) {
    case 'always':
    case 'approvable':
      return { of: 'all' }
    case 'own':
    case 'own_approvable':
      return actor.kind === 'person' ? { of: 'consultant', id: actor.id } : { of: 'none' }
    case 'granted':
    case 'never':
      return { of: 'none' }
  }
}
