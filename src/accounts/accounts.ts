import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit.ts'
import { formatMoney } from '../billing/money.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { checkName } from '../platform/name.ts'
import { quoted } from '../platform/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, NewAccount, NewLimits } from './account.ts'
import { findAccount, lockAccount, showAccount } from './account-lookup.ts'
import { addCredit } from './credit.ts'
import { changeEvent } from './events.ts'
import { checkLimits, limitDetails, setLimits } from './limits.ts'
import * as store from './store.ts'

export type { Account, NewAccount, NewLimits } from './account.ts'

/**
 * Every change is in the audit log, with its actor, or did not happen. Every method throws Problem: `not_found` for an
 * unknown id, `invalid_field` for values that break a rule.
 */
export interface Accounts {
  /** The account starts with full buckets. Throws Problem `conflict` if another account has the name, in any case. */
  create(account: NewAccount, by: Visit): Promise<Account>
  /** In order of creation. */
  list(): Promise<Account[]>
  show(id: string): Promise<Account>
  /** By id or by name, in any case. */
  find(idOrName: string): Promise<Account>
  /** Adds to the credit of a prepaid account; a negative amount withdraws what is neither spent nor held. */
  addCredit(id: string, amount: bigint, by: Visit, note?: string): Promise<Account>
  setLimits(id: string, limits: NewLimits, by: Visit): Promise<Account>
  /** Whether it is the firm's own. Takes effect within a second on every instance. Idempotent. */
  setOwn(id: string, own: boolean, by: Visit): Promise<Account>
  /** Its keys are refused at once; requests in flight are still settled. Idempotent. */
  close(id: string, by: Visit): Promise<Account>
}

export function createAccounts({ database }: { database: Database }): Accounts {
  return Object.freeze({
    create: (account: NewAccount, by: Visit) => create(database, account, by),
    list: () => store.readAccounts(database),
    show: (id: string) => showAccount(database, id),
    find: (idOrName: string) => findAccount(database, idOrName),
    addCredit: (id: string, amount: bigint, by: Visit, note = '') => addCredit(database, { id, amount, note }, by),
    setLimits: (id: string, limits: NewLimits, by: Visit) =>
      database.transaction((tx) => setLimits(tx, id, limits, by)),
    setOwn: (id: string, own: boolean, by: Visit) => database.transaction((tx) => setOwn(tx, id, own, by)),
    close: (id: string, by: Visit) => database.transaction((tx) => close(tx, id, by)),
  })
}

async function create(database: Database, account: NewAccount, by: Visit): Promise<Account> {
  const { credit = 0n, monthlyLimit } = account
  const name = checkName(account.name)
  checkLimits(account)
  if (credit < 0n) throw new Problem('invalid_field', 'The credit must not be negative.', { field: 'credit' })
  if (credit > 0n && monthlyLimit !== undefined) {
    throw new Problem('invalid_field', 'Choose one: credit paid in advance, or a monthly limit.', { field: 'credit' })
  }
  const id = randomUUIDv7()
  return database.transaction(async (tx) => {
    if (!(await store.insertAccount(tx, { ...account, id, name, monthlyLimit }))) throw nameTaken(name)
    if (credit > 0n) await store.insertCredit(tx, { id, amount: credit, note: 'opening credit' })
    const created = await showAccount(tx, id)
    const money = monthlyLimit === undefined ? { credit: formatMoney(credit) } : {}
    await recordWithin(tx, [
      changeEvent(by, 'account_created', id, {
        name,
        ...money,
        ...limitDetails(created),
        ...(created.own && { own: 'true' }),
      }),
    ])
    return created
  })
}

function nameTaken(name: string): Problem {
  return new Problem('conflict', `Another account is named ${quoted(name)}: choose a different name.`, {
    field: 'name',
  })
}

async function setOwn(tx: Queryable, id: string, own: boolean, by: Visit): Promise<Account> {
  await lockAccount(tx, id)
  if (await store.setOwn(tx, id, own)) {
    await recordWithin(tx, [changeEvent(by, 'account_own_changed', id, { own: `${!own} → ${own}` })])
  }
  return showAccount(tx, id)
}

async function close(tx: Queryable, id: string, by: Visit): Promise<Account> {
  const { status } = await lockAccount(tx, id)
  if (status === 'open') {
    await store.closeAccount(tx, id)
    await recordWithin(tx, [changeEvent(by, 'account_closed', id)])
  }
  return showAccount(tx, id)
}
