import { csvCell } from '../access/csv-cell.ts'
import { formatDecimal } from '../platform/decimal.ts'
import type { BookedRow } from './export-store.ts'
import { moneyWith } from './present.ts'

/** A column of the file: its title, and its cell in a row. */
type Column = readonly [title: string, cell: (row: BookedRow) => string]

/** Amounts are written as they are: a negative one is no formula. */
const columns: readonly Column[] = [
  ['number', ({ number }) => csvCell(number)],
  ['kind', ({ kind }) => csvCell(kind)],
  ['credits', ({ credits }) => csvCell(credits)],
  ['issued_on', (row) => csvCell(row.issued_on)],
  ['due_on', (row) => csvCell(row.due_on)],
  ['buyer', (row) => csvCell(row.buyer_name)],
  ['buyer_tax_number', (row) => csvCell(row.buyer_tax_number)],
  ['client_id', (row) => csvCell(row.client_id)],
  ['account_id', (row) => csvCell(row.account_id)],
  ['currency', ({ currency }) => csvCell(currency)],
  ['tax_category', ({ category }) => csvCell(category)],
  ['tax_rate', ({ rate }) => formatDecimal(rate, 2)],
  ['net', ({ net, decimals }) => moneyWith(decimals)(net)],
  ['tax', ({ tax, decimals }) => moneyWith(decimals)(tax)],
  ['gross', ({ net, tax, decimals }) => moneyWith(decimals)(net + tax)],
]

/** Invoices for the bookkeeper as a CSV file (RFC 4180): a row for each category and rate of tax. */
export function bookedFile(rows: readonly BookedRow[]): string {
  const lines = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))]
  return csvFile(lines)
}

export function csvFile(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('')
}
