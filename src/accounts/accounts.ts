import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatMoney } from '../billing/money.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { checkName } from '../platform/name.ts'
import { quoted } from '../platform/one-line.ts'
import * as store from './store.ts'

/** Who pays for calls. Amounts are in 10⁻¹² of the currency unit. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly status: 'open' | 'closed'
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  /** Null for a prepaid account. */
  readonly monthlyLimit: bigint | null
  readonly credited: bigint
  readonly charged: bigint
  readonly monthCharged: bigint
  /** What requests in flight may cost at most. */
  readonly held: bigint
  /** What new requests may still cost: never below 0. */
  readonly creditLeft: bigint
  readonly createdAt: Date
  readonly closedAt: Date | null
}

/** An account to be made: prepaid with `credit`, or postpaid with `monthlyLimit`; neither is prepaid with nothing. */
export interface NewAccount {
  readonly name: string
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
  readonly credit?: bigint | undefined
  readonly monthlyLimit?: bigint | undefined
}

export interface NewLimits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
  readonly monthlyLimit?: bigint | undefined
}

/** Every method throws Problem: `not_found` for an id nobody has, `invalid_field` for what the rules refuse. */
export interface Accounts {
  /** The new account may use its whole minute's limits at once. */
  create(account: NewAccount): Promise<Account>
  /** In the order of their making. */
  list(): Promise<Account[]>
  show(id: string): Promise<Account>
  /** By id, or by name where only one account has it. */
  find(idOrName: string): Promise<Account>
  /** Adds to a prepaid account, or takes away (a negative amount) what is neither spent nor held. */
  addCredit(id: string, amount: bigint, note?: string): Promise<Account>
  setLimits(id: string, limits: NewLimits): Promise<Account>
  /** Its keys are refused from now on; requests in flight are still settled. Closing it again changes nothing. */
  close(id: string): Promise<Account>
}

const mostPerMinute = 2 ** 31 - 1
const longestNote = 1000
/** The type of amounts in the database has 38 digits. */
const mostCredited = 10n ** 38n

export function createAccounts({ database }: { database: Database }): Accounts {
  return Object.freeze({
    create: (account: NewAccount) => create(database, account),
    list: () => store.readAccounts(database),
    show: (id: string) => show(database, id),
    find: (idOrName: string) => find(database, idOrName),
    async addCredit(id: string, amount: bigint, note = '') {
      checkNote(note)
      const until = performance.now() + recallPatience
      for (;;) {
        const account = await database.transaction((tx) => addCredit(tx, { id, amount, note }))
        if (account !== undefined) return account
        if (performance.now() > until)
          throw amountRefused('Requests in flight hold a part of it. Try again in a minute.')
        await sleep(recallPause)
      }
    },
    setLimits: (id: string, limits: NewLimits) => database.transaction((tx) => setLimits(tx, id, limits)),
    async close(id: string) {
      await show(database, id)
      await store.closeAccount(database, id)
      return show(database, id)
    },
  })
}

async function create(database: Database, account: NewAccount): Promise<Account> {
  const { credit = 0n, monthlyLimit } = account
  const name = checkName(account.name)
  checkLimits(account)
  if (credit < 0n) throw new Problem('invalid_field', 'The credit must not be negative.', { field: 'credit' })
  if (credit > 0n && monthlyLimit !== undefined) {
    throw new Problem('invalid_field', 'Choose one: credit paid in advance, or a monthly limit.', { field: 'credit' })
  }
  const id = randomUUIDv7()
  return database.transaction(async (tx) => {
    await store.insertAccount(tx, { ...account, id, name, monthlyLimit })
    if (credit > 0n) await store.insertCredit(tx, { id, amount: credit, note: 'opening credit' })
    return show(tx, id)
  })
}

/** Milliseconds until what instances have in advance is given back, unless one of them is dead; and how often to look. */
const recallPatience = 5000
const recallPause = 200

async function show(database: Queryable, id: string): Promise<Account> {
  const account = isUuid(id) ? await store.readAccount(database, id) : undefined
  if (account === undefined) throw new Problem('not_found', `No account has the id ${id}.`)
  return account
}

async function find(database: Database, idOrName: string): Promise<Account> {
  if (isUuid(idOrName)) return show(database, idOrName)
  const [account, ...others] = await store.readAccountsNamed(database, idOrName)
  if (account === undefined) throw new Problem('not_found', `No account has the name or id ${quoted(idOrName)}.`)
  if (others.length > 0) {
    throw new Problem(
      'invalid_field',
      `${others.length + 1} accounts are named ${quoted(idOrName)}: give the id of one.`,
    )
  }
  return account
}

/** Undefined where instances have taken in advance what is to be taken away: it is called back. */
async function addCredit(
  tx: Queryable,
  entry: { id: string; amount: bigint; note: string },
): Promise<Account | undefined> {
  const account = await lock(tx, entry.id)
  if (entry.amount === 0n) throw amountRefused('The amount must not be 0.')
  if (account.monthlyLimit !== null) {
    throw amountRefused('This account has a monthly limit and no credit: change the limit instead.')
  }
  if (account.status === 'closed' && entry.amount > 0n)
    throw amountRefused('This account is closed: it takes no credit.')
  if (account.creditLeft + entry.amount < 0n) {
    const held = account.held > 0n ? ` (requests in flight hold ${formatMoney(account.held)})` : ''
    throw amountRefused(`At most ${formatMoney(account.creditLeft)} can be taken away: that is the credit left${held}.`)
  }
  if (entry.amount < 0n && (await store.recallCredit(tx, { id: entry.id, most: account.creditLeft + entry.amount }))) {
    return undefined
  }
  if (account.credited + entry.amount >= mostCredited) throw amountRefused('The credit would be more than can be kept.')
  await store.insertCredit(tx, entry)
  return show(tx, entry.id)
}

function checkNote(note: string): void {
  if (note.length <= longestNote) return
  throw new Problem('invalid_field', `Write a shorter note: at most ${longestNote} characters.`, { field: 'note' })
}

function amountRefused(reason: string): Problem {
  return new Problem('invalid_field', reason, { field: 'amount' })
}

async function setLimits(tx: Queryable, id: string, limits: NewLimits): Promise<Account> {
  checkLimits(limits)
  const account = await lock(tx, id)
  const unspent = account.monthlyLimit === null ? account.creditLeft + account.held : 0n
  if (limits.monthlyLimit !== undefined && unspent > 0n) {
    const reason = `This account is prepaid and has ${formatMoney(unspent)} unspent: use it up or take it away before it gets a monthly limit.`
    throw new Problem('invalid_field', reason, { field: 'monthly_limit' })
  }
  await store.updateLimits(tx, id, limits)
  return show(tx, id)
}

async function lock(tx: Queryable, id: string): Promise<Account> {
  if (isUuid(id)) await store.lockAccount(tx, id)
  return show(tx, id)
}

function checkLimits(limits: NewLimits): void {
  for (const [field, value] of [
    ['requests_per_minute', limits.requestsPerMinute],
    ['tokens_per_minute', limits.tokensPerMinute],
  ] as const) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= mostPerMinute)) {
      throw new Problem('invalid_field', `${field} must be a whole number from 1 to ${mostPerMinute}.`, { field })
    }
  }
  if (limits.monthlyLimit !== undefined && limits.monthlyLimit < 0n) {
    throw new Problem('invalid_field', 'The monthly limit must not be negative.', { field: 'monthly_limit' })
  }
}
