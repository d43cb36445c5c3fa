import { parseMoney } from '../billing/prices/money.ts'
import { parseIsoTime } from '../platform/text/calendar.ts'
import { closest } from '../platform/text/closest.ts'
import { quoted } from '../platform/text/one-line.ts'
import { Problem } from '../platform/problems.ts'
import type { KeyLimitsChange } from './keys/key-limits.ts'
import type { KeyLimitsBody } from './schema.ts'

/** An amount in a request, in 10⁻¹² of the currency unit. Throws Problem `invalid_field`. */
export function amountIn(text: string, field: string): bigint {
  try {
    return parseMoney(text)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Problem('invalid_field', `The amount ${error.message}.`, { field })
  }
}

/** Limits of a key in a request. Throws Problem `invalid_field`. */
export function keyLimitsIn(given: KeyLimitsBody): KeyLimitsChange {
  const { requests_per_minute: requestsPerMinute, tokens_per_minute: tokensPerMinute } = given
  const [dailyBudget, monthlyBudget] = (['daily_budget', 'monthly_budget'] as const).map((field) => {
    const text = given[field]
    return typeof text === 'string' ? amountIn(text, field) : text
  })
  return { requestsPerMinute, tokensPerMinute, dailyBudget, monthlyBudget }
}

/** When a key expires; null: never. Throws Problem `invalid_field`. */
export const expiryIn = (text: string | null | undefined): Date | null => timeIn(text, 'expires_at', 'The expiry')

/** A date or a time in a request; null without any. Throws Problem `invalid_field`. */
export function timeIn(text: string | null | undefined, field: string, what: string): Date | null {
  if (text === null || text === undefined) return null
  const time = parseIsoTime(text)
  if (time !== undefined) return time
  const reason = `${what} must be a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.`
  throw new Problem('invalid_field', reason, { field })
}

/** Throws Problem `invalid_field` for a name that is not configured. */
export function checkModels(names: readonly string[] | null, configured: readonly string[]): void {
  const unknown = names?.find((name) => !configured.includes(name))
  if (unknown === undefined) return
  const near = closest(unknown, configured)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new Problem('invalid_field', `There is no model or alias named ${quoted(unknown)}.${hint}`, {
    field: 'allowed_models',
  })
}
