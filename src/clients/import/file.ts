import { quoted } from '../../platform/text/one-line.ts'
import { Problem } from '../../platform/problems.ts'
import { compileBody } from '../../platform/http/input/validation.ts'
import { billingNames, readBilling, type ClientBillingChange } from '../record/billing.ts'
import { readCsv, withoutEmptyColumns, type CsvRecord, type LineFault } from '../../platform/text/csv-records.ts'
import { readAddress } from '../../platform/text/postal-address.ts'
import { newClient } from '../schema.ts'

/** A client in a line of the file. An empty cell is null. */
export interface ImportedClient extends ClientBillingChange {
  readonly line: number
  readonly name: string
  readonly reference: string | null
  readonly email: string | null
  readonly address: string | null
  /** The email address of the consultant. */
  readonly consultant: string | null
}

const columns = ['name', 'reference', 'email', 'address', 'consultant', ...billingNames] as const
type Column = (typeof columns)[number]

const check = compileBody(newClient)

/** Parses a file of clients. The header has `name`, and optionally the other columns. */
export function readClientFile(bytes: Uint8Array): { clients: ImportedClient[]; faults: LineFault[] } {
  const { records, faults } = readCsv(bytes)
  const [header, ...rest] = withoutEmptyColumns(records)
  if (header === undefined) {
    return { clients: [], faults: faults.length > 0 ? faults : [{ line: 1, reason: 'the file is empty' }] }
  }
  const named = readHeader(header)
  if (!Array.isArray(named)) return { clients: [], faults: [named] }
  const read = rest.map((record) => readLine(named, record))
  return {
    clients: read.flatMap((each) => ('reason' in each ? [] : [each])),
    faults: [...read.flatMap((each) => ('reason' in each ? [each] : [])), ...faults],
  }
}

function readHeader({ line, cells }: CsvRecord): Column[] | LineFault {
  const found: Column[] = []
  for (const cell of cells) {
    const column = columns.find((each) => each === cell.trim().toLowerCase().replace('e-mail', 'email'))
    if (column === undefined) {
      return { line, reason: `unknown column ${quoted(cell)}: the columns are ${columns.join(', ')}` }
    }
    if (found.includes(column)) return { line, reason: `the column ${column} appears twice` }
    found.push(column)
  }
  return found.includes('name') ? found : { line, reason: 'the column name is missing' }
}

function readLine(named: readonly Column[], { line, cells }: CsvRecord): ImportedClient | LineFault {
  if (cells.length !== named.length) {
    return { line, reason: `it has ${cells.length} cells, but the header has ${named.length}` }
  }
  const cell = (column: Column) => {
    const text = cells[named.indexOf(column)]?.trim() ?? ''
    return text === '' ? null : text
  }
  const [name, reference, email] = [cell('name'), cell('reference'), cell('email')]
  if (name === null) return { line, reason: 'the name is missing' }
  try {
    const billing = billingIn(cell)
    check({ name, reference, email, address: cell('address'), ...billing })
    const address = readAddress(cell('address'))
    return {
      line,
      name,
      reference,
      email,
      address,
      consultant: cell('consultant'),
      ...billing,
      ...readBilling(billing),
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { line, reason: error.message }
  }
}

function billingIn(cell: (column: Column) => string | null): ClientBillingChange {
  const given = billingNames.flatMap((name) => {
    const text = cell(name)
    return text === null ? [] : [[name, name === 'days_to_pay' ? Number(text) : text] as const]
  })
  return Object.fromEntries(given)
}
