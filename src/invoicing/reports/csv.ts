import { csvLine, type CsvCell, type CsvDecimal, type CsvFormat } from '../../platform/text/csv.ts'
import { formatDecimal } from '../../platform/text/decimal.ts'
import type { BookedRow } from './store.ts'
import { moneyWith } from '../present.ts'

interface Column {
  readonly title: string
  readonly value: (row: BookedRow) => string | null | CsvDecimal
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
  { title: 'tax_rate', value: ({ rate }) => ({ decimal: formatDecimal(rate, 2) }) },
  { title: 'net', value: ({ net, decimals }) => amount(net, decimals) },
  { title: 'tax', value: ({ tax, decimals }) => amount(tax, decimals) },
  { title: 'gross', value: ({ net, tax, decimals }) => amount(net + tax, decimals) },
]

const amount = (value: bigint, decimals: number): CsvDecimal => ({ decimal: moneyWith(decimals)(value) })

/** Invoices for the bookkeeper as a CSV file: a row for each category and rate of tax. */
export function bookedFile(rows: readonly BookedRow[], format: CsvFormat): string {
  const lines = rows.map((row) => columns.map(({ value }) => value(row)))
  return csvFile([columns.map(({ title }) => title), ...lines], format)
}

/** The same rows for a program: the values by the titles of the columns, amounts as decimal text. */
export function bookedValues(rows: readonly BookedRow[]): Record<string, string | null>[] {
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ title, value }) => {
        const cell = value(row)
        return [title, typeof cell === 'object' && cell !== null ? cell.decimal : cell]
      }),
    ),
  )
}

export function csvFile(lines: readonly (readonly CsvCell[])[], format: CsvFormat): string {
  return format.mark + lines.map((cells) => csvLine(cells, format)).join('')
}
