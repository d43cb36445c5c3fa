import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'

/** A record of a CSV file (RFC 4180), and the line on which it begins; the first line of the file is 1. */
export interface CsvRecord {
  readonly line: number
  readonly cells: readonly string[]
}

/** What is wrong with a line, for a person. */
export interface LineFault {
  readonly line: number
  readonly reason: string
}

const reasons: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted text that begins here has no closing quote',
  CSV_INVALID_CLOSING_QUOTE: 'something stands behind a closing quote: write a quote inside of a text twice ("")',
  INVALID_OPENING_QUOTE:
    'a quote stands in the middle of a text: quote the whole text, and write the inner one twice ("")',
  CSV_MAX_RECORD_SIZE: 'the line is longer than any client can be',
}

/**
 * Reads a file in UTF-8, with or without a byte order mark, with commas, semicolons or tabs between its cells, which a
 * first line `sep=;` may name, and any line ends. Lines without a text are left out, as a spreadsheet ends with. After a
 * line that cannot be made out nothing more is read.
 */
export function readCsv(bytes: Uint8Array): { records: CsvRecord[]; faults: LineFault[] } {
  if (!isUtf8(bytes)) return unread(lineOfBadByte(bytes), 'this is not UTF-8: save the file as CSV UTF-8')
  const [text, separator] = withoutSeparator(new TextDecoder().decode(bytes))
  const lines = text.split(/\r\n|\n|\r/)
  // Without a byte order mark it passes for UTF-8, with a zero beside every letter.
  if (lines[0]?.includes('\0')) return unread(1, 'this is UTF-16: save the file as CSV UTF-8')
  const records: CsvRecord[] = []
  let end = 0
  try {
    parse(text, {
      delimiter: separator ?? delimiterOf(lines[0] ?? ''),
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: 100_000,
      on_record(cells: string[], { lines: read }) {
        if (cells.some((cell) => cell.trim() !== '')) records.push({ line: firstLine(lines, end), cells })
        end = read
        return null
      },
    })
    return { records, faults: [] }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const reason = reasons[error.code] ?? 'this is not CSV'
    return { records, faults: [{ line: firstLine(lines, end), reason }] }
  }
}

function unread(line: number, reason: string): { records: CsvRecord[]; faults: LineFault[] } {
  return { records: [], faults: [{ line, reason }] }
}

/** The first line with something on it after that many lines. */
function firstLine(lines: readonly string[], after: number): number {
  let line = after + 1
  while (line < lines.length && lines[line - 1] === '') line += 1
  return line
}

/** A first line such as `sep=;` is for a spreadsheet program. It leaves an empty line, so that the others keep theirs. */
function withoutSeparator(text: string): [text: string, separator: string | undefined] {
  const [line = '', separator] = /^sep=([;,\t])(?=[\r\n])/i.exec(text) ?? []
  return [text.slice(line.length), separator]
}

/** What stands between the cells of the first line. */
function delimiterOf(line: string): string {
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
