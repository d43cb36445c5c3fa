import * as store from './store.ts'
import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import { foldCharges } from '../billing/appended-charges.ts'
import { formatMoney } from '../billing/prices/money.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, BillingChange, CreditEntry, NewAccount, NewLimits, SettingsChange } from './account.ts'
import { findAccount, lockAccount, showAccount } from './account-lookup.ts'
import { setBilling } from './billing-details.ts'
import { addCredit, listCredit } from './credit.ts'
import { changeEvent } from './events.ts'
import { checkLimits, limitDetails, setLimits } from './limits.ts'
import { codeOf } from '../platform/database/failure.ts'
import { checkName, quoted } from '../platform/text/one-line.ts'

export type { Account, CreditEntry, NewAccount, NewLimits, SettingsChange } from './account.ts'

/**
 * Every change is in the audit log, with its actor, or did not happen. Every method throws Problem: `not_found` for an
 * unknown id, `invalid_field` for values that break a rule.
 */
export interface Accounts {
  /**
   * The account starts with full buckets. If an account has the id, a repeated request gets that account. Throws Problem
   * `conflict` if another account has the name, in any case.
   */
  create(account: NewAccount, by: Visit, id?: string): Promise<Account>
  /** In order of creation. */
  list(): Promise<Account[]>
  show(id: string): Promise<Account>
  /** By id or by name, in any case. */
  find(idOrName: string): Promise<Account>
  /**
   * Adds to the credit of a prepaid account; a negative amount withdraws what is neither spent nor held. If an entry has
   * the id, nothing is added again. Throws Problem `idempotency_mismatch` if that entry is a different one.
   */
  addCredit(id: string, amount: bigint, by: Visit, note?: string, entryId?: string): Promise<Account>
  /** At most `limit` entries, newest first, before the one with the number `before`. */
  listCredit(id: string, options: { readonly before?: bigint; readonly limit: number }): Promise<CreditEntry[]>
  setLimits(id: string, limits: NewLimits, by: Visit): Promise<Account>
  /** Whether it is the firm's own. Takes effect within a second on every instance. Idempotent. */
  setOwn(id: string, own: boolean, by: Visit): Promise<Account>
  /** Whom its invoices are addressed to. Absent fields keep their values. */
  setBilling(id: string, billing: BillingChange, by: Visit): Promise<Account>
  /**
   * Changes what is given. `check` gets the account, locked, and throws to prevent the change. Throws Problem `conflict` if
   * another account has the name.
   */
  change(id: string, to: SettingsChange, by: Visit, check: (before: Account) => void): Promise<Account>
  /** Its keys are refused at once; requests in flight are still settled. Idempotent. */
  close(id: string, by: Visit): Promise<Account>
}

export function createAccounts({ database }: { database: Database }): Accounts {
  async function afterFold<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    await foldCharges(database)
    return read()
  }

  return Object.freeze<Accounts>({
    create: (account: NewAccount, by: Visit, id = randomUUIDv7()) => create(database, { ...account, id }, by),
    list: () => afterFold(() => store.readAccounts(database)),
    show: (id) => afterFold(() => showAccount(database, id)),
    find: (idOrName) => afterFold(() => findAccount(database, idOrName)),
    addCredit: (accountId: string, amount: bigint, by: Visit, note = '', id = randomUUIDv7()) =>
      afterFold(() => addCredit(database, { id, accountId, amount, note }, by)),
    listCredit: (id, options) => listCredit(database, id, options),
    setLimits: (id, limits, by) => database.transaction((tx) => setLimits(tx, id, limits, by)),
    setOwn: (id: string, own: boolean, by: Visit) => database.transaction((tx) => setOwn(tx, id, own, by)),
    setBilling: (id, billing, by) => database.transaction((tx) => setBilling(tx, id, billing, by)),
    change: (id: string, to: SettingsChange, by: Visit, check: (before: Account) => void) =>
      changeSettings(database, { id, to, check }, by),
    close: (id: string, by: Visit) => database.transaction((tx) => close(tx, id, by)),
  })
}

async function create(database: Database, account: NewAccount & { readonly id: string }, by: Visit): Promise<Account> {
  const { id, credit = 0n, monthlyLimit } = account
  const name = checkName(account.name)
  checkLimits(account)
  if (credit < 0n) throw new Problem('invalid_field', 'The credit must not be negative.', { field: 'credit' })
  if (credit > 0n && monthlyLimit !== undefined) {
    throw new Problem('invalid_field', 'Choose one: credit paid in advance, or a monthly limit.', { field: 'credit' })
  }
  return database.transaction(async (tx) => {
    if (!(await store.insertAccount(tx, { ...account, name }))) {
      const made = await store.readAccount(tx, id)
      if (made === undefined) throw nameTaken(name)
      return made
    }
    const opening = { id: randomUUIDv7(), accountId: id, amount: credit, note: 'opening credit' }
    if (credit > 0n) await store.insertCredit(tx, opening)
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

async function close(tx: Queryable, id: string, by: Visit): Promise<Account> {
  const { status } = await lockAccount(tx, id)
  if (status === 'open') {
    await store.closeAccount(tx, id)
    await recordWithin(tx, [changeEvent(by, 'account_closed', id)])
  }
  return showAccount(tx, id)
}

interface SettingsOrder {
  readonly id: string
  readonly to: SettingsChange
  readonly check: (before: Account) => void
}

const uniqueViolation = '23505'

async function changeSettings(database: Database, { id, to, check }: SettingsOrder, by: Visit) {
  const { name: given, own, billing, ...limits } = to
  const name = given === undefined ? undefined : checkName(given)
  try {
    return await database.transaction(async (tx) => {
      const before = await lockAccount(tx, id)
      check(before)
      if (name !== undefined && name !== before.name) await rename(tx, before, name, by)
      if (own !== undefined) await setOwn(tx, id, own, by)
      if (billing !== undefined) await setBilling(tx, id, billing, by)
      return setLimits(tx, id, limits, by)
    })
  } catch (error) {
    if (name !== undefined && codeOf(error) === uniqueViolation) throw nameTaken(name)
    throw error
  }
}

async function rename(tx: Queryable, { id, name: before }: Account, name: string, by: Visit): Promise<void> {
  await store.renameAccount(tx, id, name)
  await recordWithin(tx, [changeEvent(by, 'account_renamed', id, { name: `${before} → ${name}` })])
}

async function setOwn(tx: Queryable, id: string, own: boolean, by: Visit): Promise<Account> {
  await lockAccount(tx, id)
  if (await store.setOwn(tx, id, own)) {
    await recordWithin(tx, [changeEvent(by, 'account_own_changed', id, { own: `${!own} → ${own}` })])
  }
  return showAccount(tx, id)
}

function nameTaken(name: string): Problem {
  return new Problem('conflict', `Another account is named ${quoted(name)}: choose a different name.`, {
    field: 'name',
  })
}

/** The account of the firm's own that a setting names to pay; or, as text, why it cannot pay and what to do. */
export async function findPaying(
  accounts: Pick<Accounts, 'find'>,
  name: string,
  setting: string,
): Promise<Account | string> {
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
