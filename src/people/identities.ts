import { randomUUIDv7 } from 'node:crypto'
import type { Audit, AuditEntry } from '../access/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import type { Email } from './email.ts'
import * as store from './identities-store.ts'
import type { Identity, PersonSummary } from './person.ts'
import { insertPerson, readPerson, readPersonByEmail } from './store.ts'

/** Finds the person behind a proof, and creates one where sign-up allows it. Returned people may be disabled. */
export interface Identities {
  byIdentity(identity: Identity): Promise<PersonSummary | undefined>
  byAddress(email: Email): Promise<PersonSummary | undefined>
  byId(personId: string): Promise<PersonSummary | undefined>
  /**
   * Gives a new identity its person: the one with this address who has no identity yet or, if `mayJoin`, a new
   * consultant. Undefined if there is neither. Concurrent sign-ins with one identity get the same person.
   */
  welcome(
    identity: Identity,
    by: { readonly email: Email; readonly mayJoin: boolean },
  ): Promise<PersonSummary | undefined>
  /** Creates a consultant with a proven address; undefined if another person has it. */
  join(email: Email): Promise<PersonSummary | undefined>
  /** Gives a person one more identity, unless it belongs to a person already. */
  identify(personId: string, identity: Identity): Promise<void>
  /** The issuers of the person's identities. */
  issuersOf(personId: string, database?: Queryable): Promise<readonly string[]>
  /** Adopts an address that changed at the provider, unless another person has it. */
  keepEmail(person: PersonSummary, email: Email): Promise<void>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createIdentities({ database, audit }: Needs): Identities {
  return Object.freeze({
    byIdentity: (identity: Identity) => store.readPersonOf(database, identity),
    byAddress: ({ key }: Email) => readPersonByEmail(database, key),
    byId: (personId: string) => readPerson(database, personId),
    welcome: (identity: Identity, { email, mayJoin }: { readonly email: Email; readonly mayJoin: boolean }) =>
      database.transaction(async (tx) => {
        await store.lockIdentity(tx, identity)
        const [person, action] = await welcome(tx, identity, email, mayJoin)
        if (person === undefined || action === undefined) return person
        await audit.recordWithin(tx, [{ ...entry(action, person.id), details: { issuer: identity.issuer } }])
        return person
      }),
    join: (email: Email) =>
      database.transaction(async (tx) => {
        const person = await insertConsultant(tx, email, new Date())
        if (person !== undefined) await audit.recordWithin(tx, [entry('person_created', person.id)])
        return person
      }),
    identify: (personId: string, identity: Identity) =>
      database.transaction(async (tx) => {
        const added = await store.insertIdentity(tx, identity, { personId, at: new Date() })
        if (!added) return
        await audit.recordWithin(tx, [{ ...entry('identity_added', personId), details: { issuer: identity.issuer } }])
      }),
    issuersOf: (personId: string, within: Queryable = database) => store.readIssuers(within, personId),
    async keepEmail(person: PersonSummary, email: Email) {
      if (person.email === email.address) return
      try {
        await database.transaction(async (tx) => {
          await store.updateEmail(tx, person.id, email)
          await audit.recordWithin(tx, [entry('email_changed', person.id)])
        })
      } catch (error) {
        if (!store.isIdentityTaken(error)) throw error
      }
    },
  } satisfies Identities)
}

/** An action that people perform on themselves by signing in. */
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
  const person = expected ?? (mayJoin ? await insertConsultant(tx, email, at) : undefined)
  if (person === undefined) return []
  await store.insertIdentity(tx, identity, { personId: person.id, at })
  return [person, expected === undefined ? 'person_created' : 'identity_added']
}

async function insertConsultant(tx: Queryable, email: Email, at: Date): Promise<PersonSummary | undefined> {
  const id = randomUUIDv7()
  const person = { id, name: email.address, email: email.address, role: 'consultant', emailKey: email.key } as const
  return (await insertPerson(tx, { ...person, createdAt: at })) ? readPerson(tx, id) : undefined
}
