import { randomUUIDv7 } from 'node:crypto'
import type { Visit } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import { foldCharges } from '../../billing/appended-charges.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import { violates } from '../../platform/database/failure.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import { checkName, quoted } from '../../platform/text/one-line.ts'
import { showAccount } from '../account-lookup.ts'
import { changeEvent } from '../events.ts'
import { changedDetails, checkBudgetAmount } from '../limits.ts'
import type { Budget, NewBudget } from './budget.ts'
import { checkJoining, checkNewBudget } from './rules.ts'
import * as store from './store.ts'

export type { Budget, NewBudget } from './budget.ts'

/** Absent fields keep their values. */
export interface BudgetChange {
  readonly name?: string | undefined
  readonly amount?: bigint | undefined
  readonly hard?: boolean | undefined
  /** Replaces the keys. */
  readonly keys?: readonly string[] | undefined
}

/** A budget of an account. */
export interface BudgetOf {
  readonly accountId: string
  readonly id: string
}

/**
 * What several keys of an account, or all requests with a tag, may spend together. Hard budgets are never exceeded, over any number of
 * instances. A change takes effect within a second on every instance; requests then in flight may still be charged. Every change is in
 * the audit log with its actor. Every method throws Problem `not_found` for an unknown id.
 */
export interface Budgets {
  /** By name. */
  list(accountId: string): Promise<Budget[]>
  /** By id or by name, in any case. */
  find(accountId: string, idOrName: string): Promise<Budget>
  /**
   * Counts what its keys or its tag have spent in the current period. Idempotent: if the account has a budget with this id, returns
   * it. Throws Problem `invalid_field`, and `conflict` if the account is closed, has 100 budgets or one with this name, or if the
   * budget with this id was removed.
   */
  create(budget: NewBudget, by: Visit): Promise<Budget>
  /** Throws Problem `invalid_field`, and `conflict` if another budget of the account has the name. */
  change(which: BudgetOf, change: BudgetChange, by: Visit): Promise<Budget>
  /**
   * Adds to the amount of each period until a time, by default the end of the current one. Replaces an earlier raise; 0 ends it. Throws Problem
   * `invalid_field`.
   */
  raise(which: BudgetOf, raise: { readonly by: bigint; readonly until?: Date | undefined }, by: Visit): Promise<Budget>
  remove(which: BudgetOf, by: Visit): Promise<void>
}

const mostBudgets = 100

export function createBudgets({ database, timeZone }: { database: Database; timeZone: string }): Budgets {
  return Object.freeze<Budgets>({
    async list(accountId) {
      await foldCharges(database)
      const { id } = await showAccount(database, accountId)
      return store.readBudgets(database, id)
    },
    async find(accountId, idOrName) {
      await foldCharges(database)
      const found = isUuid(idOrName)
        ? await store.readBudget(database, idOrName)
        : await store.readBudgetNamed(database, { accountId, name: idOrName })
      if (found?.accountId !== accountId) throw noBudget(idOrName)
      return found
    },
    async create(budget, by) {
      await foldCharges(database)
      return database.transaction((tx) => create(tx, { timeZone, ...budget }, by, timeZone))
    },
    async change(which, change, by) {
      if (change.keys !== undefined) await foldCharges(database)
      return renaming(change.name, () => database.transaction((tx) => update(tx, which, change, by)))
    },
    raise: (which, added, by) => database.transaction((tx) => raise(tx, which, added, by)),
    remove: (which, by) =>
      database.transaction(async (tx) => {
        const budget = await lockBudget(tx, which)
        await store.deleteBudget(tx, budget)
        await record(tx, by, 'removed', budget)
      }),
  })
}

async function create(tx: Queryable, asked: NewBudget, by: Visit, firmZone: string): Promise<Budget> {
  const { id: accountId, status } = await showAccount(tx, asked.accountId)
  const budget = { id: randomUUIDv7(), ...checkNewBudget(asked, firmZone), accountId }
  const row = asked.id === undefined ? budget : { ...budget, id: asked.id }
  const charges = await store.readEarlierCharges(tx, row)
  await store.lockAccount(tx, accountId)
  const earlier = await store.readBudget(tx, row.id)
  if (earlier?.accountId === accountId) return earlier
  // Instances may still report what they had of it, under its id.
  if (asked.id !== undefined && (await store.wasRemoved(tx, asked.id))) {
    throw new Problem('conflict', 'The budget that this request created was removed. Send a new Idempotency-Key.')
  }
  if (status === 'closed') throw new Problem('conflict', 'This account is closed, so its requests are refused anyway.')
  if ((await store.readBudgets(tx, accountId)).length >= mostBudgets) {
    throw new Problem('conflict', `An account can have at most ${mostBudgets} budgets. Remove one first.`)
  }
  if (row.keys !== null) await checkJoining(tx, accountId, row.keys)
  if (!(await store.insertBudget(tx, row, charges))) throw nameTaken(row.name)
  const created = await show(tx, row.id)
  const { period, timeZone: zone } = created
  await record(tx, by, 'created', created, { ...detailsOf(created), period, time_zone: zone }, keysOf(created))
  return created
}

async function update(tx: Queryable, which: BudgetOf, change: BudgetChange, by: Visit): Promise<Budget> {
  const keys = change.keys && [...new Set(change.keys)]
  const unlocked = keys && isUuid(which.id) ? await store.readBudget(tx, which.id) : undefined
  const charges = unlocked && (await store.readEarlierCharges(tx, { ...unlocked, keys: keys ?? null }))
  const before = await lockBudget(tx, which)
  const name = change.name === undefined ? before.name : checkName(change.name)
  if (change.amount !== undefined) checkBudgetAmount('amount', change.amount)
  if (before.tag !== null && keys !== undefined) {
    throw new Problem('invalid_field', 'This budget is of a tag, so it has no keys. Create another one for keys.', {
      field: 'keys',
    })
  }
  if (keys !== undefined) await checkJoining(tx, before.accountId, keys, before.keys ?? [])
  await store.updateBudget(tx, {
    ...before,
    name,
    amount: change.amount ?? before.amount,
    hard: change.hard ?? before.hard,
  })
  if (keys && charges && !hasSame(keys, before.keys ?? [])) await store.replaceKeys(tx, before.id, keys, charges)
  const after = await show(tx, which.id)
  const details = changedDetails(detailsOf(before), detailsOf(after))
  const changedKeys = changedDetails(keysOf(before), keysOf(after))
  if (Object.keys({ ...details, ...changedKeys }).length > 0) {
    await record(tx, by, 'changed', after, details, changedKeys)
  }
  return after
}

const hasSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && new Set([...some, ...others]).size === some.length

async function raise(
  tx: Queryable,
  which: BudgetOf,
  { by: amount, until }: { readonly by: bigint; readonly until?: Date | undefined },
  by: Visit,
): Promise<Budget> {
  const before = await lockBudget(tx, which)
  checkBudgetAmount('by', amount)
  checkBudgetAmount('by', before.amount + amount)
  const end = until ?? before.renewsAt
  if (amount > 0n && end === null) {
    const reason = 'This budget is never renewed: say when the raise ends, or change its amount.'
    throw new Problem('invalid_field', reason, { field: 'until' })
  }
  if (amount > 0n && end !== null && end.getTime() <= Date.now()) {
    throw new Problem('invalid_field', 'Choose a time in the future.', { field: 'until' })
  }
  const made = amount === 0n || end === null ? null : { by: amount, until: end }
  await store.writeRaise(tx, which.id, made)
  const details = made === null ? { by: '0' } : { by: formatMoney(made.by), until: made.until.toISOString() }
  if (made !== null || before.raise !== null) await record(tx, by, 'raised', before, details)
  return show(tx, which.id)
}

/** Locks the account first. */
async function lockBudget(tx: Queryable, { accountId, id }: BudgetOf): Promise<Budget> {
  if (!isUuid(accountId) || !isUuid(id)) throw noBudget(id)
  await store.lockAccount(tx, accountId)
  const budget = await store.readBudget(tx, id)
  if (budget?.accountId !== accountId) throw noBudget(id)
  return budget
}

async function show(tx: Queryable, id: string): Promise<Budget> {
  const budget = await store.readBudget(tx, id)
  if (budget === undefined) throw new Error('a budget that was just written is missing')
  return budget
}

async function renaming(name: string | undefined, work: () => Promise<Budget>): Promise<Budget> {
  try {
    return await work()
  } catch (error) {
    if (name !== undefined && violates(error, 'budget_name')) throw nameTaken(name)
    throw error
  }
}

const nameTaken = (name: string): Problem =>
  new Problem('conflict', `Another budget of this account is named ${quoted(name)}: choose a different name.`, {
    field: 'name',
  })

const noBudget = (id: string): Problem =>
  new Problem('not_found', `This account has no budget with the id or the name ${quoted(id)}.`)

/** What may change of a budget, as the audit log shows it. The value of a tag may have a customer's text. */
function detailsOf({ name, tag, hard, amount }: Budget): Record<string, string> {
  return {
    name,
    amount: formatMoney(amount),
    hard: String(hard),
    ...(tag !== null && { tag: tag.name }),
  }
}

/** All of them, for the audit log. */
const keysOf = ({ keys }: Budget): Record<string, string> => (keys === null ? {} : { keys: keys.join(' ') })

const record = (
  tx: Queryable,
  by: Visit,
  did: 'created' | 'changed' | 'raised' | 'removed',
  { id, accountId, name }: Budget,
  details: Readonly<Record<string, string>> = {},
  wholeDetails: Readonly<Record<string, string>> = {},
): Promise<void> =>
  recordWithin(tx, [
    changeEvent(by, `account_budget_${did}`, accountId, { budget: id, name, ...details }, wholeDetails),
  ])
