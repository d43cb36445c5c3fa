import type { Visit } from '../../access/actor.ts'
import type { Audit } from '../../access/audit/audit.ts'
import type { Database } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import { lockForChange } from '../change.ts'
import type { PersonSummary } from '../person.ts'
import { grantEntry } from './end.ts'
import { deleteGrant, insertGrant, readAllGrants } from './store.ts'

/** An account of a grant. */
export interface NamedAccount {
  readonly id: string
  readonly name: string
}

/** A developer and an account, by their ids. */
export interface GrantOrder {
  readonly personId: string
  readonly accountId: string
}

/**
 * Which accounts developers see. Both changes take effect with the next request, and throw Problem: `not_found` for an unknown id,
 * `forbidden` for someone who is no longer a partner.
 */
export interface Grants {
  /** The accounts of each person who has any, by the id of the person. */
  list(this: void): Promise<ReadonlyMap<string, readonly NamedAccount[]>>
  /** Idempotent. `conflict` if the person is no developer. */
  grant(this: void, order: GrantOrder, by: Visit): Promise<void>
  /** `not_found` also if the person does not have it. */
  revoke(this: void, order: GrantOrder, by: Visit): Promise<void>
}

interface Needs {
  readonly database: Database
  readonly audit: Pick<Audit, 'recordWithin'>
}

export function createGrants({ database, audit }: Needs): Grants {
  return Object.freeze<Grants>({
    async list() {
      const byPerson = Map.groupBy(await readAllGrants(database), ({ personId }) => personId)
      return new Map(
        [...byPerson].map(([id, grants]) => [id, grants.map(({ accountId, name }) => ({ id: accountId, name }))]),
      )
    },

    grant: ({ personId, accountId }, by) =>
      database.transaction(async (tx) => {
        const { person } = await lockForChange(tx, personId, by)
        if (person.role !== 'developer') throw notDeveloper(person)
        const outcome = isUuid(accountId) ? await insertGrant(tx, person.id, accountId) : undefined
        if (outcome?.exists !== true) throw new Problem('not_found', `No account has the id ${accountId}.`)
        if (outcome.added) await audit.recordWithin(tx, [grantEntry('account_granted', person.id, accountId, by)])
      }),

    revoke: ({ personId, accountId }, by) =>
      database.transaction(async (tx) => {
        const { person } = await lockForChange(tx, personId, by)
        if (!isUuid(accountId) || !(await deleteGrant(tx, person.id, accountId))) throw notGranted(person)
        await audit.recordWithin(tx, [grantEntry('account_grant_removed', person.id, accountId, by)])
      }),
  })
}

function notDeveloper({ name, role }: PersonSummary): Problem {
  return new Problem('conflict', `${name} is a ${role}. Only developers are granted accounts: change the role first.`)
}

function notGranted({ name }: PersonSummary): Problem {
  return new Problem('not_found', `${name} was not granted an account with this id.`)
}
