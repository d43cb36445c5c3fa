import { setTimeout as sleep } from 'node:timers/promises'
import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import { formatMoney } from '../billing/prices/money.ts'
import type { Database, Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, CreditEntry } from './account.ts'
import { lockAccount, showAccount } from './account-lookup.ts'
import { changeEvent } from './events.ts'
import * as store from './store.ts'

const longestNote = 1000
/** The type of amounts in the database has 38 digits. */
const mostCredited = 10n ** 38n
/** How long to wait for the allowances of live instances to be returned, in ms, and how often to check. */
const recallPatience = 5000
const recallPause = 200

export async function addCredit(database: Database, change: store.NewCreditEntry, by: Visit): Promise<Account> {
  checkNote(change.note)
  const until = performance.now() + recallPatience
  for (;;) {
    const account = await database.transaction((tx) => tryCredit(tx, change, by))
    if (account !== undefined) return account
    if (performance.now() > until) throw amountRefused('Requests in flight hold a part of it. Try again in a minute.')
    await sleep(recallPause)
  }
}

export async function listCredit(
  database: Database,
  id: string,
  { before, limit }: { readonly before?: bigint; readonly limit: number },
): Promise<CreditEntry[]> {
  const { id: accountId } = await showAccount(database, id)
  return store.readCredit(database, { accountId, before: before ?? null, limit })
}

/** Undefined while instances hold the amount to withdraw in allowances, which are then recalled. */
async function tryCredit(tx: Queryable, change: store.NewCreditEntry, by: Visit): Promise<Account | undefined> {
  const { accountId, amount } = change
  const account = await lockAccount(tx, accountId)
  if (await wasMade(tx, change)) return account
  checkCredit(account, amount)
  if (amount < 0n && (await store.recallCredit(tx, { id: accountId, most: account.creditLeft + amount }))) {
    return undefined
  }
  await store.insertCredit(tx, change)
  const details = { amount: formatMoney(amount), entry: change.id }
  await recordWithin(tx, [changeEvent(by, 'account_credited', accountId, details)])
  return showAccount(tx, accountId)
}

/** Whether an earlier request made this change. Throws Problem `idempotency_mismatch` if it made another one. */
async function wasMade(tx: Queryable, { id, amount, note }: store.NewCreditEntry): Promise<boolean> {
  const made = await store.readCreditEntry(tx, id)
  if (made === undefined) return false
  if (made.amount === amount && made.note === note) return true
  throw new Problem(
    'idempotency_mismatch',
    `An earlier request with this Idempotency-Key has changed the credit by ${formatMoney(made.amount)}. Check the credit before you change it again.`,
  )
}

function checkCredit(account: Account, amount: bigint): void {
  if (amount === 0n) throw amountRefused('The amount must not be 0.')
  if (account.monthlyLimit !== null) {
    throw amountRefused('This account has a monthly limit and no credit: change the limit instead.')
  }
  if (account.status === 'closed' && amount > 0n) {
    throw amountRefused('This account is closed: credit cannot be added to it.')
  }
  if (account.creditLeft + amount < 0n) {
    const held = account.held > 0n ? ` (requests in flight hold ${formatMoney(account.held)})` : ''
    throw amountRefused(`At most ${formatMoney(account.creditLeft)} can be withdrawn: that is the credit left${held}.`)
  }
  if (account.credited + amount >= mostCredited) throw amountRefused('The credit would exceed the largest amount.')
}

function checkNote(note: string): void {
  if (note.length <= longestNote) return
  throw new Problem('invalid_field', `Write a shorter note: at most ${longestNote} characters.`, { field: 'note' })
}

function amountRefused(reason: string): Problem {
  return new Problem('invalid_field', reason, { field: 'amount' })
}
