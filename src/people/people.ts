import { randomUUIDv7 } from 'node:crypto'
import { personIdOf, type Role, type Visit } from '../access/actor.ts'
import type { Audit, AuditEntry } from '../access/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { readEmail } from './email.ts'
import { checkName } from '../platform/name.ts'
import type { Person, PersonChange, PersonSummary, Status } from './person.ts'
import * as store from './store.ts'

export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly role: Role
}

/** Every method throws Problem: `not_found` for an unknown id, `invalid_field` or `conflict` for a change that is not allowed. */
export interface People {
  /** The first identity whose provider vouches for the address becomes theirs. `conflict` if the address is taken. */
  create(person: NewPerson, by: Visit): Promise<Person>
  list(): Promise<PersonSummary[]>
  show(id: string): Promise<PersonSummary>
  /** Undefined if no person has the address. */
  byEmail(email: string): Promise<PersonSummary | undefined>
  /** Ends all sessions of the person. `conflict` if no active partner would remain. */
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
      throw new Problem('conflict', `A person with the address ${read.address} exists already.`, { field: 'email' })
    }
    await audit.recordWithin(tx, [
      { ...by, action: 'person_created', outcome: 'allowed', ...about(person.id), details: { role } },
    ])
  })
  return Object.freeze(person)
}

function notAnAddress(email: string): Problem {
  return new Problem('invalid_field', `${JSON.stringify(email)} is not an e-mail address such as name@example.com.`, {
    field: 'email',
  })
}

async function show(database: Queryable, id: string): Promise<PersonSummary> {
  const person = isUuid(id) ? await store.readPerson(database, id) : undefined
  if (person === undefined) throw unknownPerson(id)
  return person
}

function unknownPerson(id: string): Problem {
  return new Problem('not_found', `No person has the id ${id}.`)
}

async function change({ database, audit }: Needs, id: string, to: PersonChange, by: Visit): Promise<PersonSummary> {
  const { before, refusal } = await database.transaction(async (tx) => {
    const partners = await store.lockPartners(tx)
    // Two partners may demote each other at the same moment: the second one has lost the right.
    const actingPerson = personIdOf(by.actor)
    if (actingPerson !== undefined && !partners.includes(actingPerson)) throw notAPartner()
    const person = isUuid(id) ? await store.lockPerson(tx, id) : undefined
    if (person === undefined) throw unknownPerson(id)
    const { role, status } = { ...person, ...to }
    const isLast = partners.length === 1 && partners[0] === person.id && (role !== 'partner' || status !== 'active')
    if (!isLast) await store.updatePerson(tx, id, to)
    const outcome = isLast ? 'refused' : 'allowed'
    const changes = changesOf(person, { role, status })
    // A change that changes nothing still shows the person.
    const entries = changes.length > 0 ? changes : [{ action: 'person_read' }]
    await audit.recordWithin(
      tx,
      entries.map((each) => ({ ...by, ...about(person.id), ...each, outcome })),
    )
    return { before: person, refusal: isLast ? lastPartner(person) : undefined }
  })
  if (refusal) throw refusal
  return { ...before, ...to }
}

/** The audit entries of a change. */
function changesOf(before: PersonSummary, after: Required<PersonChange>): Pick<AuditEntry, 'action' | 'details'>[] {
  const action = after.status === 'active' ? 'person_enabled' : 'person_disabled'
  return [
    ...(after.role === before.role ? [] : [{ action: 'role_changed', details: { from: before.role, to: after.role } }]),
    ...(after.status === before.status ? [] : [{ action }]),
  ]
}

function lastPartner({ name }: PersonSummary): Problem {
  return new Problem('conflict', `${name} is the last partner. Make another person a partner first.`)
}

function notAPartner(): Problem {
  return new Problem('forbidden', 'Only a partner of the firm may change people.')
}

const about = (id: string) => ({ noun: 'person', nounId: id })
