import { quoted } from '../platform/one-line.ts'
import { Problem } from '../platform/problems.ts'
import { compileBody } from '../platform/http/validation.ts'
import { readCsv, type CsvRecord, type LineFault } from './csv.ts'
import { newClient } from './schema.ts'

/** A client as a line of the file says it. Null: nothing stands there. */
export interface ImportedClient {
  readonly line: number
  readonly name: string
  readonly reference: string | null
  readonly email: string | null
  /** The e-mail address of the consultant. */
  readonly consultant: string | null
}

const columns = ['name', 'reference', 'email', 'consultant'] as const
type Column = (typeof columns)[number]

const check = compileBody(newClient)

/** Reads a file of clients. Its first line names the columns: `name`, and any of `reference`, `email`, `consultant`. */
export function readClientFile(bytes: Uint8Array): { clients: ImportedClient[]; faults: LineFault[] } {
  const { records, faults } = readCsv(bytes)
  const [head, ...rest] = withoutEmptyColumns(records)
  if (head === undefined) {
    return { clients: [], faults: faults.length > 0 ? faults : [{ line: 1, reason: 'the file is empty' }] }
  }
  const named = readHead(head)
  if (!Array.isArray(named)) return { clients: [], faults: [named] }
  const read = rest.map((record) => readLine(named, record))
  return {
    clients: read.flatMap((each) => ('reason' in each ? [] : [each])),
    faults: [...read.flatMap((each) => ('reason' in each ? [each] : [])), ...faults],
  }
}

/** A spreadsheet may write columns behind the last one that has a name; they are left out where they are empty. */
function withoutEmptyColumns(records: readonly CsvRecord[]): readonly CsvRecord[] {
  const last = records[0]?.cells.findLastIndex((cell) => cell.trim() !== '') ?? -1
  return records.map(({ line, cells }) => ({
    line,
    cells: cells.slice(last + 1).some((cell) => cell.trim() !== '') ? cells : cells.slice(0, last + 1),
  }))
}

function readHead({ line, cells }: CsvRecord): Column[] | LineFault {
  const found: Column[] = []
  for (const cell of cells) {
    const column = columns.find((each) => each === cell.trim().toLowerCase().replace('e-mail', 'email'))
    if (column === undefined) {
      return { line, reason: `there is no column ${quoted(cell)}: the first line names ${columns.join(', ')}` }
    }
    if (found.includes(column)) return { line, reason: `the column ${column} is there twice` }
    found.push(column)
  }
  return found.includes('name') ? found : { line, reason: 'there is no column name' }
}

function readLine(named: readonly Column[], { line, cells }: CsvRecord): ImportedClient | LineFault {
  if (cells.length !== named.length) {
    return { line, reason: `it has ${cells.length} cells where the first line has ${named.length}` }
  }
  const cell = (column: Column) => {
    const text = cells[named.indexOf(column)]?.trim() ?? ''
    return text === '' ? null : text
  }
  const [name, reference, email] = [cell('name'), cell('reference'), cell('email')]
  if (name === null) return { line, reason: 'the name is missing' }
  try {
    check({ name, reference, email })
    return { line, name, reference, email, consultant: cell('consultant') }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { line, reason: error.message }
  }
}
