import { csvCell } from '../access/csv-cell.ts'
import { formatDecimal } from '../platform/decimal.ts'
import type { BookedRow } from './export-store.ts'
import { moneyWith } from './present.ts'

/** An amount is written as it is, because a negative one is no formula. */
interface Column {
  readonly title: string
  readonly value: (row: BookedRow) => string | null
  readonly isAmount?: true
}

const columns: readonly Column[] = [
  { title: 'number', value: ({ number }) => number },
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'credits', value: ({ credits }) => credits },
  { title: 'issued_on', value: (row) => row.issued_on },
  { title: 'due_on', value: (row) => row.due_on },
  { title: 'buyer', value: (row) => row.buyer_name },
  { title: 'buyer_tax_number', value: (row) => row.buyer_tax_number },
  { title: 'client_id', value: (row) => row.client_id },
  { title: 'account_id', value: (row) => row.account_id },
  { title: 'currency', value: ({ currency }) => currency },
  { title: 'tax_category', value: ({ category }) => category },
  { title: 'tax_rate', value: ({ rate }) => formatDecimal(rate, 2), isAmount: true },
  { title: 'net', value: ({ net, decimals }) => moneyWith(decimals)(net), isAmount: true },
  { title: 'tax', value: ({ tax, decimals }) => moneyWith(decimals)(tax), isAmount: true },
  { title: 'gross', value: ({ net, tax, decimals }) => moneyWith(decimals)(net + tax), isAmount: true },
]

/** Invoices for the bookkeeper as a CSV file (RFC 4180): a row for each category and rate of tax. */
export function bookedFile(rows: readonly BookedRow[]): string {
  const lines = rows.map((row) =>
    columns.map(({ value, isAmount }) => (isAmount ? (value(row) ?? '') : csvCell(value(row)))),
  )
  return csvFile([columns.map(({ title }) => title), ...lines])
}

/** The same rows for a program: the values by the titles of the columns, amounts as decimal text. */
export function bookedValues(rows: readonly BookedRow[]): Record<string, string | null>[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ title, value }) => [title, value(row)])))
}

export function csvFile(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}
