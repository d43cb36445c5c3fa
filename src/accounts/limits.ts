import type { Visit } from '../access/actor.ts'
import { recordWithin } from '../access/audit/audit.ts'
import { formatMoney } from '../billing/prices/money.ts'
import type { Queryable } from '../platform/database/database.ts'
import { Problem } from '../platform/problems.ts'
import type { Account, NewLimits } from './account.ts'
import { lockAccount, showAccount } from './account-lookup.ts'
import { changeEvent } from './events.ts'
import * as store from './store.ts'

const mostPerMinute = 2 ** 31 - 1

export async function setLimits(tx: Queryable, id: string, limits: NewLimits, by: Visit): Promise<Account> {
  checkLimits(limits)
  const before = await lockAccount(tx, id)
  const unspent = before.monthlyLimit === null ? before.creditLeft + before.held : 0n
  if (limits.monthlyLimit !== undefined && unspent > 0n) {
    const reason = `This account is prepaid and has ${formatMoney(unspent)} unspent: withdraw it or use it up before setting a monthly limit.`
    throw new Problem('invalid_field', reason, { field: 'monthly_limit' })
  }
  await store.updateLimits(tx, id, limits)
  const after = await showAccount(tx, id)
  const details = changedDetails(limitDetails(before), limitDetails(after))
  if (Object.keys(details).length > 0) await recordWithin(tx, [changeEvent(by, 'account_limits_changed', id, details)])
  return after
}

/** `old → new` for each value that differs. */
export function changedDetails(before: Record<string, string>, after: Record<string, string>): Record<string, string> {
  const differing = Object.entries(after).filter(([name, value]) => before[name] !== value)
  return Object.fromEntries(differing.map(([name, value]) => [name, `${before[name] ?? 'none'} → ${value}`]))
}

/** The limits of an account as the audit log shows them. */
export function limitDetails({ requestsPerMinute, tokensPerMinute, monthlyLimit }: Account): Record<string, string> {
  return {
    requests_per_minute: String(requestsPerMinute),
    tokens_per_minute: String(tokensPerMinute),
    ...(monthlyLimit !== null && { monthly_limit: formatMoney(monthlyLimit) }),
  }
}

/** Throws Problem `invalid_field`. */
export function checkLimits(limits: NewLimits): void {
  for (const [field, value] of [
    ['requests_per_minute', limits.requestsPerMinute],
    ['tokens_per_minute', limits.tokensPerMinute],
  ] as const) {
    if (value !== undefined) checkPerMinute(field, value)
  }
  if (limits.monthlyLimit !== undefined && limits.monthlyLimit < 0n) {
    throw new Problem('invalid_field', 'The monthly limit must not be negative.', { field: 'monthly_limit' })
  }
}

/** Throws Problem `invalid_field`. */
export function checkBudgetAmount(field: string, amount: bigint): void {
  if (amount >= 0n && amount < tooMuch) return
  throw new Problem('invalid_field', `The field ${field} must be an amount from 0 to below ${formatMoney(tooMuch)}.`, {
    field,
  })
}

/** The type of amounts in the database has 38 digits. */
const tooMuch = 10n ** 38n

/** Throws Problem `invalid_field`. */
export function checkPerMinute(field: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= mostPerMinute) return
  throw new Problem('invalid_field', `${field} must be a whole number from 1 to ${mostPerMinute}.`, { field })
}
