import { formatMoney } from '../../billing/prices/money.ts'
import { parseIsoTime, today } from '../../platform/text/calendar.ts'
import { Problem } from '../../platform/problems.ts'
import { parseDecimal } from '../../platform/text/decimal.ts'
import type { PersonJson } from './store.ts'

/** Throws Problem `invalid_field` for a text that is not a calendar date. */
export function checkDay(field: string, value: unknown): void {
  if (typeof value === 'string' && (value.length !== 10 || parseIsoTime(value) === undefined)) {
    throw new Problem('invalid_field', `The field ${field} must be a calendar date: 2026-03-12.`, { field })
  }
}

/** Earlier days are typing errors, such as the year 0026. */
const firstDay = '1900-01-01'

/** Checks the day of something that has happened. Throws Problem `invalid_field` also for a day after today in the zone. */
export function checkPastDay(field: string, value: unknown, timeZone: string): void {
  checkDay(field, value)
  const last = today(timeZone)
  if (typeof value !== 'string' || (value >= firstDay && value <= last)) return
  const reason = `The field ${field} must be a day from ${firstDay} to today, ${last} (time zone ${timeZone}).`
  throw new Problem('invalid_field', reason, { field })
}

/** The decimals of prices on invoices. */
const priceDecimals = 6
const perPriceUnit = 1_000_000n

/** A price with at most six decimals, in 10⁻¹² of the currency unit. Throws Problem `invalid_field`. */
export function entryPrice(text: string, field: string, { least, most }: { least: bigint; most: bigint }): string {
  const amount = read(text, field) * perPriceUnit
  if (amount >= least && amount <= most) return String(amount)
  const lower = least === 0n ? 'must not be negative' : 'must be above 0'
  const reason = amount > most ? `must be at most ${formatMoney(most)}` : lower
  throw new Problem('invalid_field', `The field ${field} ${reason}.`, { field })
}

function read(text: string, field: string): bigint {
  try {
    return parseDecimal(text, priceDecimals)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Problem('invalid_field', `The field ${field} ${error.message}.`, { field })
  }
}

/** A time in PostgreSQL's JSON → a time in a response. */
export function timeOf(text: string): string {
  return new Date(text).toISOString()
}

/** Like `timeOf`, for a column that can be null. */
export function timeIfAny(value: unknown): string | null {
  return typeof value === 'string' ? timeOf(value) : null
}

/** The person in two columns; null if there is none. */
export function personOf(id: unknown, name: unknown): PersonJson | null {
  return typeof id === 'string' && typeof name === 'string' ? { id, name } : null
}
