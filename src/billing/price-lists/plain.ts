import { readCsv, withoutEmptyColumns, type CsvRecord, type LineFault } from '../../platform/text/csv-records.ts'
import { parseExactDecimal, type ExactDecimal } from '../../platform/text/exact-decimal.ts'
import { quoted } from '../../platform/text/one-line.ts'
import type { ListEntry, ListedPrices, PriceList } from './list-entry.ts'

const parts = {
  input: 'input',
  output: 'output',
  cached_input: 'cachedInput',
  cache_write: 'cacheWrite',
} as const
type Column = 'model' | keyof typeof parts

const columns = ['model', 'input', 'output', 'cached_input', 'cache_write'] as const

/** Reads a CSV file with the columns `model` and `input`, and optionally the others. Prices are per million tokens. */
export function readPlainList(bytes: Uint8Array): PriceList | LineFault[] {
  const { records, faults } = readCsv(bytes)
  const [header, ...rest] = withoutEmptyColumns(records)
  if (header === undefined) return faults.length > 0 ? faults : [{ line: 1, reason: 'the file is empty' }]
  const named = readHeader(header)
  if (!Array.isArray(named)) return [named]
  const seen = new Map<string, number>()
  const read = rest.map((record) => readLine(named, record, seen))
  const wrong = [...read.flatMap((each) => ('reason' in each ? [each] : [])), ...faults]
  if (wrong.length > 0) return wrong
  return { format: 'csv', currency: null, models: read.flatMap((each) => ('reason' in each ? [] : [each])) }
}

function readHeader({ line, cells }: CsvRecord): Column[] | LineFault {
  const found: Column[] = []
  for (const cell of cells) {
    const column = columns.find((each) => each === cell.trim().toLowerCase())
    if (column === undefined) {
      return { line, reason: `unknown column ${quoted(cell)}: the columns are ${columns.join(', ')}` }
    }
    if (found.includes(column)) return { line, reason: `the column ${column} appears twice` }
    found.push(column)
  }
  const missing = (['model', 'input'] as const).find((column) => !found.includes(column))
  return missing === undefined ? found : { line, reason: `the column ${missing} is missing` }
}

function readLine(named: readonly Column[], record: CsvRecord, seen: Map<string, number>): ListEntry | LineFault {
  const { line, cells } = record
  if (cells.length !== named.length) {
    return { line, reason: `it has ${cells.length} cells, but the header has ${named.length}` }
  }
  const cell = (column: Column) => cells[named.indexOf(column)]?.trim() ?? ''
  const model = cell('model')
  if (model === '') return { line, reason: 'the model is missing' }
  const earlier = seen.get(model)
  if (earlier !== undefined) return { line, reason: `the model ${quoted(model)} is already in line ${earlier}` }
  seen.set(model, line)
  const prices: { -readonly [Part in keyof ListedPrices]: ExactDecimal } = {}
  for (const column of named) {
    const text = cell(column)
    if (column === 'model' || text === '') continue
    try {
      const price = parseExactDecimal(text)
      if (price.digits < 0n) throw new RangeError('must not be negative')
      prices[parts[column]] = { digits: price.digits, scale: price.scale + 6 }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { line, reason: `the ${column} price ${quoted(text)} ${error.message}` }
    }
  }
  if (prices.input === undefined) return { line, reason: 'the input price is missing' }
  return { names: [model], prices, rules: [], unpriced: [], faults: [] }
}
