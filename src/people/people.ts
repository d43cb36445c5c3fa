import { randomUUIDv7 } from 'node:crypto'
import type { Role, Visit } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { aboutPerson, changeWithin, unknownPerson, withdrawals, type ChangeOrder } from './change.ts'
import { withdrawOf } from './invitations/store.ts'
import { readEmail, type Email } from './email.ts'
import { checkName } from '../platform/text/one-line.ts'
import type { Person, PersonSummary, Status } from './person.ts'
import * as store from './store.ts'

export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly role: Role
}

/** Every method throws Problem: `not_found` for an unknown id, `invalid_field` or `conflict` for a change that is not allowed. */
export interface People {
  /**
   * The first identity whose provider vouches for the address is linked to the person. `conflict` if the address is
   * taken.
   */
  create(person: NewPerson, by: Visit): Promise<Person>
  list(): Promise<PersonSummary[]>
  show(id: string): Promise<PersonSummary>
  /** Undefined if no person has the address. */
  byEmail(email: string): Promise<PersonSummary | undefined>
  /** These end all sessions of the person. `conflict` if no active partner would remain. */
  setRole(id: string, role: Role, by: Visit): Promise<PersonSummary>
  setStatus(id: string, status: Status, by: Visit): Promise<PersonSummary>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createPeople(needs: Needs): People {
  const { database } = needs
  return Object.freeze<People>({
    create: (person, by) => create(needs, person, by),
    list: () => store.readPeople(database),
    show: (id) => show(database, id),
    async byEmail(email) {
      const key = readEmail(email)?.key
      return key === undefined ? undefined : store.readPersonByEmail(database, key)
    },
    setRole: (id, role, by) => change(needs, { id, to: { role }, by }),
    setStatus: (id, status, by) => change(needs, { id, to: { status }, by }),
  })
}

async function create({ database, audit }: Needs, { name, email, role }: NewPerson, by: Visit): Promise<Person> {
  const read = requiredEmail(email)
  const person = { id: randomUUIDv7(), name: checkName(name), email: read.address, role }
  await database.transaction(async (tx) => {
    const added = await store.insertPerson(tx, { ...person, emailKey: read.key, createdAt: new Date() })
    if (!added) throw addressTaken(read)
    await audit.recordWithin(tx, [
      { ...by, action: 'person_created', outcome: 'allowed', ...aboutPerson(person.id), details: { role } },
      ...withdrawals(await withdrawOf(tx, read.key, new Date()), by),
    ])
  })
  return Object.freeze(person)
}

/** Throws Problem `invalid_field`. */
export function requiredEmail(text: string): Email {
  const email = readEmail(text)
  if (email !== undefined) return email
  throw new Problem('invalid_field', `${JSON.stringify(text)} is not an email address such as name@example.com.`, {
    field: 'email',
  })
}

export function addressTaken({ address }: Email): Problem {
  return new Problem('conflict', `A person with the address ${address} already exists.`, { field: 'email' })
}

async function show(database: Queryable, id: string): Promise<PersonSummary> {
  const person = isUuid(id) ? await store.readPerson(database, id) : undefined
  if (person === undefined) throw unknownPerson(id)
  return person
}

async function change({ database, audit }: Needs, order: ChangeOrder): Promise<PersonSummary> {
  const { before, refusal } = await database.transaction((tx) => changeWithin(tx, audit.recordWithin, order))
  if (refusal) throw refusal
  return { ...before, ...order.to }
}
