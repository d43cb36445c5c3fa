import { byRole } from '../../access/policy.ts'
import { parseMoney } from '../../billing/prices/money.ts'
import { quotientHalfEven } from '../../platform/text/decimal.ts'
import { Problem } from '../../platform/problems.ts'
import { checkPastDay, entryPrice } from './values.ts'
import type { ItemKind } from './kinds.ts'
import { minorUnitOf, shownMoney } from '../money.ts'
import { newTimeEntry, timeEntry, timeEntryChange, timeEntryList } from '../schema.ts'

const mostRate = parseMoney('1000000000')

interface TimeSettings {
  /** The default rate, in 10⁻¹² of the currency unit. */
  readonly hourlyRate?: bigint | undefined
  /** The zone in which no entry is in the future. Default: UTC. */
  readonly timeZone?: string
}

/** Time that someone worked for a client. */
export function timeEntries({ hourlyRate, timeZone = 'UTC' }: TimeSettings = {}): ItemKind {
  return Object.freeze({
    noun: 'time_entry',
    plural: 'time_entries',
    columns: ['date', 'minutes', 'rate', 'text', 'billable'],
    money: ['rate'],
    pagedBy: 'date',
    // As the amounts that are shown: rounded once each, to the minor unit.
    totals: (unit) => ({
      entries: 'count(*)',
      minutes: 'coalesce(sum(n.minutes), 0)',
      billable: `(coalesce(sum(half_even(n.minutes * n.rate, ${60n * unit})) filter (where n.billable), 0) * ${unit})::text`,
    }),
    order: 'n.date desc, n.id desc',
    shape: timeEntry,
    listShape: timeEntryList,
    newBody: newTimeEntry,
    changeBody: timeEntryChange,
    defaults: { billable: true, ...(hourlyRate !== undefined && { rate: String(hourlyRate) }) },
    toColumns(body) {
      checkPastDay('date', body['date'], timeZone)
      return typeof body['rate'] === 'string'
        ? { ...body, rate: entryPrice(body['rate'], 'rate', { least: 0n, most: mostRate }) }
        : body
    },
    checkNew({ rate }, actor) {
      if (rate !== undefined) return
      const reason = byRole(actor, {
        partner: 'The field rate is missing: the configuration has no invoicing.hourly_rate.',
        consultant:
          'The field rate is missing, and the firm has no default. Enter a rate, or ask a partner to set one.',
      })
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
    toListFields: (currency) => ({ default_rate: shownMoney(hourlyRate?.toString(), currency) }),
    toTotals: ({ entries, minutes, billable }, currency) => ({
      entries,
      minutes,
      billable: shownMoney(billable, currency),
      currency,
    }),
  } satisfies ItemKind)
}

/** Rounded once, to the minor unit. */
function amountOf(minutes: unknown, rate: unknown, currency: string): string | undefined {
  if (typeof minutes !== 'number' || typeof rate !== 'string') return undefined
  const unit = minorUnitOf(currency)
  return String(quotientHalfEven(BigInt(minutes) * BigInt(rate), 60n * unit) * unit)
}
