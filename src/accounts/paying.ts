import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { Account } from './account.ts'

interface Accounts {
  find(idOrName: string): Promise<Account>
}

/** The account of the firm's own that a setting names to pay; or, as text, why it cannot pay and what to do. */
export async function findPaying(accounts: Accounts, name: string, setting: string): Promise<Account | string> {
  const account = await accounts.find(name).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  })
  const which = `${setting} names the account ${quoted(name)}, which`
  if (account === undefined) {
    return `${which} does not exist. Create it: ./tollgate account create --own --name ${quoted(name)}`
  }
  if (!account.own) return `${which} is not the firm's own. Mark it: ./tollgate account own ${quoted(account.name)}`
  if (account.status === 'closed') return `${which} is closed. Name another account.`
  return account
}
