import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'

/** A record of a CSV file (RFC 4180), and the line on which it begins; the first line of the file is 1. */
export interface CsvRecord {
  readonly line: number
  readonly cells: readonly string[]
}

/** Why a line cannot be read, as a message for the operator. */
export interface LineFault {
  readonly line: number
  readonly reason: string
}

/** By the codes of csv-parse. */
const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted field that starts here has no closing quote',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after a closing quote: double a quote inside a quoted field ("")',
  INVALID_OPENING_QUOTE:
    'there is a quote inside an unquoted field: quote the whole field, and double the inner quote ("")',
  CSV_MAX_RECORD_SIZE: 'the line is too long',
}

/** The options of csv-parse for every file. */
export const csvSyntax = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  max_record_size: 100_000,
}

/**
 * Parses a UTF-8 file, with or without a byte order mark. It accepts any line ending, and commas, semicolons or tabs as
 * the delimiter; a first line such as `sep=;` can set it. It skips empty lines and stops at the first syntax error.
 */
export function readCsv(bytes: Uint8Array): { records: CsvRecord[]; faults: LineFault[] } {
  if (!isUtf8(bytes)) return unread(lineOfBadByte(bytes), 'this is not UTF-8: save the file as CSV UTF-8')
  const [text, separator] = withoutSeparator(new TextDecoder().decode(bytes))
  const lines = text.split(/\r\n|\n|\r/)
  // UTF-16 without a byte order mark is valid UTF-8 with NUL characters.
  if (lines[0]?.includes('\0')) return unread(1, 'this is UTF-16: save the file as CSV UTF-8')
  const records: CsvRecord[] = []
  let end = 0
  try {
    parse(text, {
      ...csvSyntax,
      delimiter: separator ?? delimiterOf(lines[0] ?? ''),
      skip_empty_lines: true,
      on_record(cells: string[], { lines: read }) {
        if (cells.some((cell) => cell.trim() !== '')) records.push({ line: firstLine(lines, end), cells })
        end = read
        return null
      },
    })
    return { records, faults: [] }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { records, faults: [{ line: firstLine(lines, end), reason: csvFault(error.code) }] }
  }
}

/** Drops empty cells after the last named column, which spreadsheet programs may write. */
export function withoutEmptyColumns(records: readonly CsvRecord[]): readonly CsvRecord[] {
  const last = records[0]?.cells.findLastIndex((cell) => cell.trim() !== '') ?? -1
  return records.map(({ line, cells }) => ({
    line,
    cells: cells.slice(last + 1).some((cell) => cell.trim() !== '') ? cells : cells.slice(0, last + 1),
  }))
}

export const csvFault = (code: string): string => reasons[code] ?? 'this is not CSV'

function unread(line: number, reason: string): { records: CsvRecord[]; faults: LineFault[] } {
  return { records: [], faults: [{ line, reason }] }
}

/** The number of the first non-empty line after that many lines. */
function firstLine(lines: readonly string[], after: number): number {
  let line = after + 1
  while (line < lines.length && lines[line - 1] === '') line += 1
  return line
}

/** Removes a first line such as `sep=;`, which spreadsheet programs write. It stays as an empty line, to keep the numbering. */
export function withoutSeparator(text: string): [text: string, separator: string | undefined] {
  const [line = '', separator] = /^sep=([;,\t])(?=[\r\n])/i.exec(text) ?? []
  return [text.slice(line.length), separator]
}

/** The most frequent delimiter in the first line. */
export function delimiterOf(line: string): string {
  const count = (sign: string) => line.split(sign).length
  return [';', '\t'].reduce((most, sign) => (count(sign) > count(most) ? sign : most), ',')
}

function lineOfBadByte(bytes: Uint8Array): number {
  let start = 0
  for (let line = 1; ; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}
