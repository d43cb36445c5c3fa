import { parseMoney } from '../../billing/prices/money.ts'
import { closest } from '../../platform/text/closest.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { checkPastDay, entryPrice } from './values.ts'
import type { ItemKind } from './kinds.ts'
import { shownMoney } from '../money.ts'
import { expense, expenseChange, expenseList, newExpense } from '../schema.ts'

const mostAmount = parseMoney('1000000000000')

interface ExpenseSettings {
  /** The ids of the taxes of the configuration. */
  readonly taxes?: readonly string[]
  /** The zone in which no expense is in the future. Default: UTC. */
  readonly timeZone?: string
}

/** What the firm paid for a client. */
export function expenses({ taxes = [], timeZone = 'UTC' }: ExpenseSettings = {}): ItemKind {
  return Object.freeze({
    noun: 'expense',
    plural: 'expenses',
    columns: ['date', 'amount', 'text', 'tax', 'billable'],
    money: ['amount'],
    pagedBy: 'date',
    totals: () => ({
      entries: 'count(*)',
      billable: 'coalesce(sum(n.amount) filter (where n.billable), 0)::text',
    }),
    order: 'n.date desc, n.id desc',
    shape: expense,
    listShape: expenseList,
    newBody: newExpense,
    changeBody: expenseChange,
    defaults: { billable: true },
    toColumns(body) {
      checkPastDay('date', body['date'], timeZone)
      if (typeof body['tax'] === 'string') checkTax(body['tax'], taxes)
      return typeof body['amount'] === 'string'
        ? { ...body, amount: entryPrice(body['amount'], 'amount', { least: 1n, most: mostAmount }) }
        : body
    },
    toFields: ({ date, amount, text, tax = null, billable }, currency) => ({
      date,
      amount: shownMoney(amount, currency),
      currency,
      text,
      tax,
      billable,
    }),
    toTotals: ({ entries, billable }, currency) => ({ entries, billable: shownMoney(billable, currency), currency }),
  } satisfies ItemKind)
}

function checkTax(id: string, taxes: readonly string[]): void {
  if (taxes.includes(id)) return
  const near = closest(id, [...taxes])
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new Problem('invalid_field', `The configuration has no tax named ${quoted(id)}.${hint}`, { field: 'tax' })
}
