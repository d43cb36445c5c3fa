import { randomUUIDv7 } from 'node:crypto'
import type { Audit, AuditEntry } from '../access/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import type { Email } from './email.ts'
import * as store from './identities-store.ts'
import type { PersonSummary } from './people.ts'
import { insertPerson, readPerson } from './store.ts'

/** Who somebody is at a provider. It alone decides who signs in; an e-mail address never does. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

export interface Identities {
  /** The person that an identity belongs to, disabled ones too. */
  find(identity: Identity): Promise<PersonSummary | undefined>
  /**
   * Gives a new identity its person: the one who was entered with this address and whom no identity belongs to yet, or,
   * if `mayJoin`, a new consultant. Undefined where neither is to be had. Any number of sign-ins of the same identity at
   * the same time get the same person.
   */
  welcome(
    identity: Identity,
    by: { readonly email: Email; readonly mayJoin: boolean },
  ): Promise<PersonSummary | undefined>
  /** Gives a person one more identity; an identity that is somebody's stays theirs. */
  identify(personId: string, identity: Identity): Promise<void>
  /** Takes over an address that the provider has changed, unless it is somebody else's. */
  keepEmail(person: PersonSummary, email: Email): Promise<void>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createIdentities({ database, audit }: Needs): Identities {
  return Object.freeze({
    find: (identity: Identity) => store.readPersonOf(database, identity),
    async welcome(identity: Identity, { email, mayJoin }: { readonly email: Email; readonly mayJoin: boolean }) {
      return database.transaction(async (tx) => {
        await store.lockIdentity(tx, identity)
        const [person, action] = await welcome(tx, identity, email, mayJoin)
        const entries =
          person && action !== undefined ? [{ ...entry(action, person.id), details: { issuer: identity.issuer } }] : []
        await audit.recordWithin(tx, entries)
        return person
      })
    },
    async identify(personId: string, identity: Identity) {
      await database.transaction(async (tx) => {
        const added = await store.insertIdentity(tx, identity, { personId, at: new Date() })
        if (added)
          await audit.recordWithin(tx, [{ ...entry('identity_added', personId), details: { issuer: identity.issuer } }])
      })
    },
    async keepEmail(person: PersonSummary, email: Email) {
      if (person.email === email.address) return
      try {
        await database.transaction(async (tx) => {
          await store.updateEmail(tx, person.id, email)
          await audit.recordWithin(tx, [entry('email_changed', person.id)])
        })
      } catch (error) {
        if (!store.isTaken(error)) throw error
      }
    },
  })
}

/** Something that people do to themselves by signing in. */
function entry(action: string, id: string): AuditEntry {
  return { actor: { kind: 'person', id }, action, outcome: 'allowed', noun: 'person', nounId: id }
}

async function welcome(
  tx: Queryable,
  identity: Identity,
  email: Email,
  mayJoin: boolean,
): Promise<[person?: PersonSummary | undefined, action?: string]> {
  const known = await store.readPersonOf(tx, identity)
  if (known !== undefined) return [known]
  const at = new Date()
  const expected = await store.lockUnclaimed(tx, email.key)
  if (expected !== undefined) {
    await store.insertIdentity(tx, identity, { personId: expected.id, at })
    return [expected, 'identity_added']
  }
  if (!mayJoin) return []
  const person = { id: randomUUIDv7(), name: email.address, email: email.address, role: 'consultant' } as const
  if (!(await insertPerson(tx, { ...person, emailKey: email.key, createdAt: at }))) return []
  await store.insertIdentity(tx, identity, { personId: person.id, at })
  return [await readPerson(tx, person.id), 'person_created']
}
