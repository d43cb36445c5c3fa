import { randomUUIDv7 } from 'node:crypto'
import { personIdOf, type Role, type Visit } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { readEmail } from './email.ts'
import { checkName } from '../platform/name.ts'
import * as store from './store.ts'

export type Status = 'active' | 'disabled'

/** Somebody who may sign in now. */
export interface Person {
  readonly id: string
  readonly name: string
  /** Null for a person who is known by an identity alone. */
  readonly email: string | null
  readonly role: Role
}

/** A person as the list of people shows them, disabled ones too. */
export interface PersonSummary extends Person {
  readonly status: Status
  readonly createdAt: Date
  readonly lastSignedInAt: Date | null
}

export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly role: Role
}

export interface PersonChange {
  readonly role?: Role
  readonly status?: Status
}

/** Every method throws Problem: `not_found` for an id nobody has, `invalid_field` or `conflict` where rules refuse. */
export interface People {
  /** They sign in with the first identity whose provider vouches for the address. `conflict` when it is taken. */
  create(person: NewPerson, by: Visit): Promise<Person>
  list(): Promise<PersonSummary[]>
  show(id: string): Promise<PersonSummary>
  /** Undefined when nobody has the address. */
  byEmail(email: string): Promise<PersonSummary | undefined>
  /** Ends all sessions of the person. `conflict` where it would leave no active partner. */
  change(id: string, to: PersonChange, by: Visit): Promise<PersonSummary>
  setRole(id: string, role: Role, by: Visit): Promise<PersonSummary>
  setStatus(id: string, status: Status, by: Visit): Promise<PersonSummary>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createPeople(needs: Needs): People {
  const { database } = needs
  return Object.freeze({
    create: (person: NewPerson, by: Visit) => create(needs, person, by),
    list: () => store.readPeople(database),
    show: (id: string) => show(database, id),
    async byEmail(email: string) {
      const key = readEmail(email)?.key
      return key === undefined ? undefined : store.readPersonByEmail(database, key)
    },
    change: (id: string, to: PersonChange, by: Visit) => change(needs, id, to, by),
    setRole: (id: string, role: Role, by: Visit) => change(needs, id, { role }, by),
    setStatus: (id: string, status: Status, by: Visit) => change(needs, id, { status }, by),
  })
}

async function create({ database, audit }: Needs, { name, email, role }: NewPerson, by: Visit): Promise<Person> {
  const read = readEmail(email)
  if (read === undefined) throw notAnAddress(email)
  const person = { id: randomUUIDv7(), name: checkName(name), email: read.address, role }
  await database.transaction(async (tx) => {
    const added = await store.insertPerson(tx, { ...person, emailKey: read.key, createdAt: new Date() })
    if (!added) {
      throw new Problem('conflict', `There is a person with the address ${read.address} already.`, { field: 'email' })
    }
    await audit.recordWithin(tx, [
      { ...by, action: 'person_created', outcome: 'allowed', ...about(person.id), details: { role } },
    ])
  })
  return Object.freeze(person)
}

function notAnAddress(email: string): Problem {
  return new Problem('invalid_field', `${JSON.stringify(email)} is no e-mail address: write name@example.com.`, {
    field: 'email',
  })
}

async function show(database: Queryable, id: string): Promise<PersonSummary> {
  const person = isUuid(id) ? await store.readPerson(database, id) : undefined
  if (person === undefined) throw nobody(id)
  return person
}

function nobody(id: string): Problem {
  return new Problem('not_found', `No person has the id ${id}.`)
}

async function change({ database, audit }: Needs, id: string, to: PersonChange, by: Visit): Promise<PersonSummary> {
  const { before, refusal } = await database.transaction(async (tx) => {
    const partners = await store.lockPartners(tx)
    // Two partners may demote each other at the same moment: the second is no partner any more.
    const actingPerson = personIdOf(by.actor)
    if (actingPerson !== undefined && !partners.includes(actingPerson)) throw notAPartner()
    const person = isUuid(id) ? await store.lockPerson(tx, id) : undefined
    if (person === undefined) throw nobody(id)
    const { role, status } = { ...person, ...to }
    const isLast = partners.length === 1 && partners[0] === person.id && (role !== 'partner' || status !== 'active')
    if (!isLast) await store.updatePerson(tx, id, to)
    const outcome = isLast ? 'refused' : 'allowed'
    await audit.recordWithin(
      tx,
      changesOf(person, { role, status }).map((each) => ({ ...by, ...about(person.id), ...each, outcome })),
    )
    return { before: person, refusal: isLast ? lastPartner(person) : undefined }
  })
  if (refusal) throw refusal
  return { ...before, ...to }
}

/** What a change changes, as the audit log calls it. */
function changesOf(before: PersonSummary, after: Required<PersonChange>): Pick<AuditEntry, 'action' | 'details'>[] {
  const action = after.status === 'active' ? 'person_enabled' : 'person_disabled'
  return [
    ...(after.role === before.role ? [] : [{ action: 'role_changed', details: { from: before.role, to: after.role } }]),
    ...(after.status === before.status ? [] : [{ action }]),
  ]
}

function lastPartner({ name }: PersonSummary): Problem {
  return new Problem('conflict', `${name} is the last partner: make another person a partner first.`)
}

function notAPartner(): Problem {
  return new Problem('forbidden', 'Only a partner of the firm may change people.')
}

const about = (id: string) => ({ noun: 'person', nounId: id })
