import type { Database, Queryable } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { Account } from './account.ts'
import * as store from './store.ts'

/** Throws Problem `not_found`. */
export async function showAccount(database: Queryable, id: string): Promise<Account> {
  const account = isUuid(id) ? await store.readAccount(database, id) : undefined
  if (account === undefined) throw new Problem('not_found', `No account has the id ${id}.`)
  return account
}

/** By id or by name, in any case. Throws Problem `not_found`. */
export async function findAccount(database: Database, idOrName: string): Promise<Account> {
  if (isUuid(idOrName)) return showAccount(database, idOrName)
  const account = await store.readAccountNamed(database, idOrName)
  if (account === undefined) throw new Problem('not_found', `No account has the name or id ${quoted(idOrName)}.`)
  return account
}

/** Locked against the till and other changes until the transaction ends. Throws Problem `not_found`. */
export async function lockAccount(tx: Queryable, id: string): Promise<Account> {
  if (isUuid(id)) await store.lockAccount(tx, id)
  return showAccount(tx, id)
}
