import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { quotientHalfEven } from '../../platform/text/decimal.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { lineAmounts, type Tax } from '../arithmetic.ts'
import { invoiceNumbers, type InvoiceNumbers } from '../files/numbers.ts'
import type { InvoiceSettings } from '../settings.ts'
import { taxIn } from './typed-lines.ts'
import {
  closeMonths,
  readExpenses,
  readLetters,
  readTime,
  type ExpenseRow,
  type LettersRow,
  type TimeRow,
} from '../unbilled/store.ts'
import { priceBase } from '../document.ts'
import type { LooseLine } from './usage-lines.ts'
import { invoiceWords } from '../files/words.ts'

interface ClientBill {
  readonly clientId: string
  /** The last day. */
  readonly until: string
  readonly settings: InvoiceSettings
}

/** With the formats of dates, which are made once for all lines. */
interface LineSettings extends InvoiceSettings {
  readonly dates: Pick<InvoiceNumbers, 'day' | 'month'>
}

/** One unit, in 10⁻⁶. */
const one = 1_000_000n
/**
 * The maximum number of lines of each kind, so that one invoice can have them all. The oldest come first; the others
 * stay unbilled.
 */
const most = 3000

/** A line for each time entry, expense and month of letters of a client that is not yet billed. */
export async function unbilledLines(
  access: RecordAccess,
  visit: Visit,
  { clientId, until, settings }: ClientBill,
): Promise<LooseLine[]> {
  const [, time, expenses, letters] = await access.as(visit, [
    closeMonths,
    readTime(clientId, until, most),
    readExpenses(clientId, until, most),
    readLetters(clientId, until, most),
  ])
  const lines: LineSettings = {
    ...settings,
    dates: invoiceNumbers(settings.locale, settings.currency, settings.decimals),
  }
  return [
    ...time.map((row) => timeLine(row, lines)),
    ...expenses.map((row) => expenseLine(row, lines)),
    ...letters.map((row) => lettersLine(row, lines)),
  ]
}

function timeLine({ id, version, date, minutes, rate, person, text }: TimeRow, settings: LineSettings): LooseLine {
  const [quantity, unitPrice] = [BigInt(minutes) * one, rate / one]
  return {
    ...ofEntry,
    source: 'time',
    text: `${settings.dates.day(date)}, ${person}: ${text}`,
    quantity,
    unit: 'minute',
    unitPrice,
    ...lineAmounts(quantity, unitPrice, settings.decimals, priceBase('minute')),
    tax: taxIn(undefined, 'tax', settings),
    entry: { id, version },
  }
}

function expenseLine(row: ExpenseRow, settings: LineSettings): LooseLine {
  const { id, version, date, amount, text } = row
  const unitPrice = amount / one
  return {
    ...ofEntry,
    source: 'expense',
    text: `${settings.dates.day(date)}: ${text}`,
    quantity: one,
    unit: 'piece',
    unitPrice,
    ...lineAmounts(one, unitPrice, settings.decimals),
    tax: expenseTax(row, settings),
    entry: { id, version },
  }
}

/** Throws Problem `invalid_field` for a tax that the configuration no longer has. */
function expenseTax({ date, tax, text }: ExpenseRow, settings: LineSettings): Tax {
  if (tax === null || settings.taxes.has(tax)) return taxIn(tax ?? undefined, 'unbilled_until', settings)
  throw new Problem(
    'invalid_field',
    `The expense of ${settings.dates.day(date)}, ${quoted(text)}, has the tax ${quoted(tax)}, which is no longer configured: change its tax on the client’s record.`,
    { field: 'unbilled_until' },
  )
}

function lettersLine({ month, cost }: LettersRow, settings: LineSettings): LooseLine {
  const unitPrice = withMarkup(cost, settings.markup)
  return {
    ...ofEntry,
    source: 'letters',
    text: invoiceWords(settings.locale).letters(settings.dates.month(month)),
    quantity: one,
    unit: 'lump_sum',
    unitPrice,
    ...lineAmounts(one, unitPrice, settings.decimals, priceBase('lump_sum')),
    tax: taxIn(undefined, 'tax', settings),
    letters: { month, markup: settings.markup },
  }
}

/** A cost in 10⁻¹² of the currency unit with a mark-up in hundredths of a per cent, rounded half to even. */
function withMarkup(cost: bigint, markup: number): bigint {
  return quotientHalfEven(cost * BigInt(10_000 + markup), 10_000n)
}

const ofEntry = { model: null, direction: null, creditsPosition: null } as const
