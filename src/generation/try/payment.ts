import type { Actor } from '../../access/actor.ts'
import { byRole } from '../../access/policy.ts'
import { findPaying, type Account, type Accounts } from '../../accounts/accounts.ts'
import type { Config } from '../../platform/config/config.ts'
import { Problem } from '../../platform/problems.ts'

type Settings = Config['try_it']

/** The account that pays for tried calls; or, as text, why nobody can try a call, and what to do. */
export async function findTryAccount(accounts: Pick<Accounts, 'find'>, tryIt: Settings): Promise<Account | string> {
  if (tryIt === undefined) return 'Trying calls is not set up: add the group "try_it" to the configuration.'
  return findPaying(accounts, tryIt.account, 'try_it.account')
}

/** The same account. Throws Problem `conflict`. */
export async function tryAccount(accounts: Pick<Accounts, 'find'>, tryIt: Settings, actor: Actor): Promise<Account> {
  const account = await findTryAccount(accounts, tryIt)
  if (typeof account === 'string') throw new Problem('conflict', shownFault(account, actor))
  return account
}

/** A fault as a person reads it. */
export function shownFault(partner: string, actor: Actor): string {
  return byRole(actor, { partner, consultant: 'No call can be tried now. Ask a partner to check the settings.' })
}

/** Why nobody could try a call with this configuration; null if they could, or it is not set up. */
export async function faultOfTryIt(tryIt: Settings, accounts: Pick<Accounts, 'find'>): Promise<string | null> {
  const account = tryIt && (await findTryAccount(accounts, tryIt))
  return typeof account === 'string' ? account : null
}
