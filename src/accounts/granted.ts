import { readGrants, type RecordAccess } from '../access/access.ts'
import { personIdOf, type Visit } from '../access/actor.ts'
import { readerOf } from '../access/portal/reader.ts'
import { foldCharges } from '../billing/appended-charges.ts'
import type { Database } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { GrantedAccount } from './account.ts'
import type { Budget } from './budgets/budget.ts'
import { readBudgets } from './budgets/store.ts'
import { readKeySummaries, type KeySummary } from './keys/store.ts'
import { readGrantedAccounts } from './store.ts'

/** What developers see of the accounts that they were granted, under row-level security. */
interface GrantedAccounts {
  /** In order of creation. */
  list(this: void, visit: Visit): Promise<GrantedAccount[]>
  /** Whether the account was granted is decided before. Throws Problem `forbidden` if the grant has ended since. */
  show(this: void, visit: Visit, id: string): Promise<GrantedAccount>
  /** The keys of the account in order of creation, without other people's scratch keys. */
  keys(this: void, visit: Visit, id: string): Promise<KeySummary[]>
  /** The budgets of the account by name, without the values of tags. */
  budgets(this: void, visit: Visit, id: string): Promise<Budget[]>
}

interface Needs {
  readonly database: Database
  readonly access: Pick<RecordAccess, 'as'>
}

export function grantedAccounts({ database, access }: Needs): GrantedAccounts {
  return Object.freeze<GrantedAccounts>({
    async list(visit) {
      await foldCharges(database)
      const grants = await readGrants(database, personIdOf(visit.actor) ?? '')
      return readGrantedAccounts(readerOf(access, visit), grants)
    },
    async show(visit, id) {
      await foldCharges(database)
      const [account] = await readGrantedAccounts(readerOf(access, visit), [id])
      if (account === undefined) throw new Problem('forbidden', 'You no longer have access to this account.')
      return account
    },
    async keys(visit, id) {
      await foldCharges(database)
      return readKeySummaries(readerOf(access, visit), id)
    },
    async budgets(visit, id) {
      await foldCharges(database)
      return readBudgets(readerOf(access, visit), id, { values: false })
    },
  })
}
