import type { Visit } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import { formatMoney } from '../../billing/prices/money.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import { changeEvent } from '../events.ts'
import { deleteKeyLimits, lockAccountOfKey, writeKeyLimits, type KeyLimits } from './store.ts'
import { changedDetails, checkBudgetAmount, checkPerMinute } from '../limits.ts'
import { lockKey, readKeySummary, type KeySummary } from './store.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { publicIdOf } from './key-format.ts'

export type { KeyLimits } from './store.ts'

/** Absent fields keep their values; null removes a limit. */
export type KeyLimitsChange = { readonly [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined }

/** Changes the limits of a key. Throws Problem `not_found`, `invalid_field` and `conflict`. */
export async function setKeyLimits(tx: Queryable, id: string, change: KeyLimitsChange, by: Visit): Promise<KeySummary> {
  checkKeyLimits(change)
  const before = await lockKeyAndAccount(tx, id)
  if (before === undefined) throw unknownKey(id)
  if (before.personId !== null) throw unlimitable('This is a scratch key, which cannot have limits of its own.')
  if (before.accountId === null) throw unlimitable('This key has no account, so its requests are refused anyway.')
  const after = { ...before, ...withoutUndefined(change) }
  const details = changedDetails(namedLimits(before, 'none'), namedLimits(after, 'none'))
  if (Object.keys(details).length === 0) return before
  if (hasLimits(after)) await writeKeyLimits(tx, id, after)
  else await deleteKeyLimits(tx, id)
  await recordWithin(tx, [changeEvent(by, 'key_limits_changed', id, details)])
  return (await readKeySummary(tx, id)) ?? before
}

/** The limits of a new key. */
export const firstLimits = (given: KeyLimitsChange = {}): KeyLimits => ({ ...noLimits, ...withoutUndefined(given) })

/** Gives a new key its limits, which the event of its creation names. */
export async function setFirstLimits(tx: Queryable, id: string, limits: KeyLimits): Promise<void> {
  if (!hasLimits(limits)) return
  await lockAccountOfKey(tx, id)
  await writeKeyLimits(tx, id, limits)
}

/** Locks the account before the key, as every change of both does. Undefined if there is no such key. */
export async function lockKeyAndAccount(tx: Queryable, id: string): Promise<KeySummary | undefined> {
  if (!isUuid(id)) return undefined
  await lockAccountOfKey(tx, id)
  return lockKey(tx, id)
}

/** Throws Problem `invalid_field`. */
export function checkKeyLimits(limits: KeyLimitsChange): void {
  for (const [field, value] of [
    ['requests_per_minute', limits.requestsPerMinute],
    ['tokens_per_minute', limits.tokensPerMinute],
  ] as const) {
    if (typeof value === 'number') checkPerMinute(field, value)
  }
  for (const [field, value] of [
    ['daily_budget', limits.dailyBudget],
    ['monthly_budget', limits.monthlyBudget],
  ] as const) {
    if (typeof value === 'bigint') checkBudgetAmount(field, value)
  }
}

/** The limits of a key as the audit log shows them: those that it has, or with `none` all. */
export function namedLimits(limits: KeyLimits, none?: string): Record<string, string> {
  const { requestsPerMinute, tokensPerMinute, dailyBudget, monthlyBudget } = limits
  const texts = {
    requests_per_minute: requestsPerMinute?.toString() ?? none,
    tokens_per_minute: tokensPerMinute?.toString() ?? none,
    daily_budget: dailyBudget === null ? none : formatMoney(dailyBudget),
    monthly_budget: monthlyBudget === null ? none : formatMoney(monthlyBudget),
  }
  return Object.fromEntries(Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])))
}

const noLimits: KeyLimits = {
  requestsPerMinute: null,
  tokensPerMinute: null,
  dailyBudget: null,
  monthlyBudget: null,
}

function hasLimits({ requestsPerMinute, tokensPerMinute, dailyBudget, monthlyBudget }: KeyLimits): boolean {
  return [requestsPerMinute, tokensPerMinute, dailyBudget, monthlyBudget].some((limit) => limit !== null)
}

function withoutUndefined({ requestsPerMinute, tokensPerMinute, dailyBudget, monthlyBudget }: KeyLimitsChange) {
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(dailyBudget !== undefined && { dailyBudget }),
    ...(monthlyBudget !== undefined && { monthlyBudget }),
  }
}

const unlimitable = (reason: string): Problem => new Problem('conflict', reason)

export function unknownKey(id: string): Problem {
  // Operators may paste the key itself: never repeat it on a screen or in a log.
  if (id.startsWith('tg_')) {
    const hint = `Find the key that begins with tg_${publicIdOf(id)}: ./tollgate key list`
    return new Problem('not_found', `Give the id of the key, not the key itself. ${hint}`)
  }
  return new Problem('not_found', `No key has the id ${quoted(id)}. List the keys: ./tollgate key list`)
}
