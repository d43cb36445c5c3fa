import { parseMoney } from '../billing/money.ts'
import { decimalsOf } from '../platform/currency.ts'
import { quotientHalfEven } from '../platform/decimal.ts'
import { Problem } from '../platform/problems.ts'
import { checkDay } from './days.ts'
import { entryPrice } from './entry-amounts.ts'
import type { ItemKind } from './kinds.ts'
import { shownMoney } from './money.ts'
import { newTimeEntry, timeEntry, timeEntryChange, timeEntryList } from './schema.ts'

const mostRate = parseMoney('1000000000')

/** Time that someone worked for a client. `hourlyRate` is the default rate, in 10⁻¹² of the currency unit. */
export function timeEntries(hourlyRate?: bigint): ItemKind {
  return Object.freeze({
    noun: 'time_entry',
    plural: 'time_entries',
    columns: ['date', 'minutes', 'rate', 'text', 'billable'],
    money: ['rate'],
    isPaged: true,
    order: 'n.date desc, n.id desc',
    shape: timeEntry,
    listShape: timeEntryList,
    newBody: newTimeEntry,
    changeBody: timeEntryChange,
    defaults: { billable: true, ...(hourlyRate !== undefined && { rate: String(hourlyRate) }) },
    toColumns(body) {
      checkDay('date', body['date'])
      return typeof body['rate'] === 'string'
        ? { ...body, rate: entryPrice(body['rate'], 'rate', { least: 0n, most: mostRate }) }
        : body
    },
    checkNew({ rate }) {
      if (rate !== undefined) return
      const reason = 'The field rate is missing: the configuration has no invoicing.hourly_rate.'
      throw new Problem('missing_field', reason, { field: 'rate' })
    },
    toFields: ({ date, minutes, rate, text, billable }, currency) => ({
      date,
      minutes,
      rate: shownMoney(rate, currency),
      amount: shownMoney(amountOf(minutes, rate, currency), currency),
      currency,
      text,
      billable,
    }),
  } satisfies ItemKind)
}

/** Rounded once, to the minor unit. */
function amountOf(minutes: unknown, rate: unknown, currency: string): string | undefined {
  if (typeof minutes !== 'number' || typeof rate !== 'string') return undefined
  const unit = parseMoney('1') / 10n ** BigInt(decimalsOf(currency))
  return String(quotientHalfEven(BigInt(minutes) * BigInt(rate), 60n * unit) * unit)
}
