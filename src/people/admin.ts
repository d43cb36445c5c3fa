import * as identities from './identities-store.ts'
import { personIdOf, type Visit } from '../access/actor.ts'
import { preventAssignments } from '../access/access.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { checkName } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { CredentialChanges } from '../signin/credential-change.ts'
import { removeFactors, removeSignInData } from '../signin/removal.ts'
import { changeWithin, lastPartner, lockForChange, withdrawals, withdrawnEntries } from './change.ts'
import type { Email } from './email.ts'
import { endGrants } from './grants/end.ts'
import { deleteInvitations, withdrawOf, withdrawUnfinished } from './invitations/store.ts'
import { addressTaken, requiredEmail } from './people.ts'
import type { PersonChange, PersonSummary } from './person.ts'
import { markDeleted } from './store.ts'

/**
 * What partners and the command line change about people. Every method throws Problem: `not_found` for an unknown id,
 * `invalid_field` or `conflict` for a change that is not allowed, `forbidden` for someone who is no longer a partner.
 */
export interface PeopleAdmin {
  /** A change of role, status or address ends all sessions of the person. A new address is mailed to both addresses. */
  change(this: void, id: string, to: PersonChange, by: Visit): Promise<PersonSummary>
  /** How many identities at providers each person has, by their id. */
  countIdentities(this: void): Promise<ReadonlyMap<string, number>>
  /**
   * Takes all identities from a person: the next one whose provider vouches for the person's address is linked to them.
   * Returns how many there were. `conflict` if there was none.
   */
  unlink(this: void, id: string, by: Visit): Promise<number>
  /**
   * Removes the second factors, passkeys and recovery codes of a person who lost them and will set up new ones.
   * `conflict` if there was none, or if the person is the one who acts: /me has rules that protect their last factor.
   */
  resetFactors(this: void, id: string, by: Visit): Promise<void>
  /**
   * Deletes how a person signs in, and frees their address. The id and the name remain for the audit log and revisions.
   * `conflict` while the person has clients.
   */
  remove(this: void, id: string, by: Visit): Promise<void>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
  readonly changes: CredentialChanges
  /** The number of clients of a person, including archived ones. */
  readonly countClientsOf: (visit: Visit, personId: string) => Promise<number>
}

export function createPeopleAdmin(needs: Needs): PeopleAdmin {
  return Object.freeze<PeopleAdmin>({
    change: (id, to, by) => change(needs, id, to, by),
    countIdentities: () => identities.countByPerson(needs.database),
    unlink: (id, by) => unlink(needs, id, by),
    resetFactors: (id, by) => resetFactors(needs, id, by),
    remove: (id, by) => remove(needs, id, by),
  })
}

async function unlink({ database, changes }: Needs, id: string, by: Visit): Promise<number> {
  return database.transaction(async (tx) => {
    const { person } = await lockForChange(tx, id, by)
    const issuers = await identities.deleteIdentities(tx, person.id)
    if (issuers.length === 0) throw noIdentity(person)
    const [notice, details] = [{ what: 'identities_removed' } as const, { issuer: issuers.join(' ') }]
    await changes.conclude(tx, { person, action: 'identity_removed', details, notice, by })
    return issuers.length
  })
}

async function resetFactors({ database, changes }: Needs, id: string, by: Visit): Promise<void> {
  if (personIdOf(by.actor) === id.toLowerCase()) throw ownFactors()
  await database.transaction(async (tx) => {
    const { person } = await lockForChange(tx, id, by)
    if (!(await removeFactors(tx, person.id))) throw noFactor(person)
    await changes.conclude(tx, { person, action: 'factors_reset', notice: { what: 'factor_reset' }, by })
  })
}

async function change(needs: Needs, id: string, given: PersonChange, by: Visit): Promise<PersonSummary> {
  const { email: text, ...columns } = given
  const email = text === undefined ? undefined : requiredEmail(text)
  const to = { ...columns, ...(columns.name !== undefined && { name: checkName(columns.name) }) }
  try {
    const { before, refusal } = await needs.database.transaction(async (tx) => {
      const outcome = await changeWithin(tx, needs.audit.recordWithin, { id, to, by })
      if (email && !outcome.refusal) await changeAddress(tx, needs, outcome.before, email, by)
      return outcome
    })
    if (refusal) throw refusal
    return { ...before, ...to, ...(email && { email: email.address }) }
  } catch (error) {
    if (email && identities.isIdentityTaken(error)) throw addressTaken(email)
    throw error
  }
}

/** An address that someone can no longer read no longer proves anything: links mailed to it end before it changes. */
async function changeAddress(
  tx: Queryable,
  { audit, changes }: Needs,
  person: PersonSummary,
  email: Email,
  by: Visit,
): Promise<void> {
  if (person.email === email.address) return
  await changes.concludeAddress(tx, { person, by, address: email.address })
  await identities.updateEmail(tx, person.id, email)
  const at = new Date()
  const withdrawn = [...(await withdrawOf(tx, email.key, at)), ...(await withdrawUnfinished(tx, person.id, at))]
  await audit.recordWithin(tx, withdrawals(withdrawn, by))
}

async function remove({ database, audit, changes, countClientsOf }: Needs, id: string, by: Visit): Promise<void> {
  const refusal = await database.transaction(async (tx) => {
    const { person, isLastPartner } = await lockForChange(tx, id, by)
    await preventAssignments(tx, person.id)
    // Client records are visible only through the portal's own login, and so not in this transaction.
    const clients = await countClientsOf(by, person.id)
    const about = { ...by, noun: 'person', nounId: id }
    if (isLastPartner || clients > 0) {
      await audit.recordWithin(tx, [{ ...about, action: 'person_deleted', outcome: 'refused' }])
      return isLastPartner ? lastPartner(person) : hasClients(person, clients)
    }
    await audit.recordWithin(tx, [
      ...(await withdrawnEntries(tx, person.id, by)),
      ...(await endGrants(tx, person.id, by)),
    ])
    const notice = { what: 'account_deleted' } as const
    await changes.conclude(tx, { person, action: 'person_deleted', notice, by })
    await removeSignInData(tx, person.id)
    await deleteInvitations(tx, person.id)
    await markDeleted(tx, person.id, new Date())
    return undefined
  })
  if (refusal) throw refusal
}

function hasClients({ name }: PersonSummary, count: number): Problem {
  const clients = count === 1 ? 'a client' : `${count} clients`
  return new Problem('conflict', `${name} still has ${clients}, archived ones included. Hand them over first.`)
}

function noIdentity({ name }: PersonSummary): Problem {
  return new Problem('conflict', `${name} has no identity at a provider.`)
}

function ownFactors(): Problem {
  return new Problem('conflict', 'Change your own second factors at /me. Another partner can remove yours.')
}

function noFactor({ name }: PersonSummary): Problem {
  return new Problem('conflict', `${name} has no second factor and no passkey.`)
}
