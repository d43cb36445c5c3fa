import { decimalMarkOf, type DecimalMark } from './typed-amount.ts'

/** How a CSV file (RFC 4180) is written. */
export interface CsvFormat {
  /** What the file starts with. */
  readonly mark: '' | '\uFEFF'
  readonly separator: ',' | ';'
  readonly decimalMark: DecimalMark
}

export type CsvCell = string | number | bigint | null | undefined | CsvDecimal

/** A plain decimal, `-1234.56`. */
export interface CsvDecimal {
  readonly decimal: string
}

/** The format for programs. */
export const plainCsv: CsvFormat = { mark: '', separator: ',', decimalMark: '.' }

/**
 * The format that a spreadsheet opens without an import dialog on a computer with this locale. Excel reads UTF-8 only
 * after a byte order mark, and separates cells by the list separator of Windows.
 */
export function spreadsheetCsv(locale: string): CsvFormat {
  const decimalMark = decimalMarkOf(locale)
  return { mark: '\uFEFF', separator: decimalMark === ',' || hasPointAndSemicolon(locale) ? ';' : ',', decimalMark }
}

/** Windows separates by semicolons in Switzerland and Liechtenstein, too, where decimals may have a point. */
function hasPointAndSemicolon(locale: string): boolean {
  return ['CH', 'LI'].includes(new Intl.Locale(locale).maximize().region ?? '')
}

export function csvLine(cells: readonly CsvCell[], format: CsvFormat): string {
  return `${cells.map((cell) => written(cell, format)).join(format.separator)}\r\n`
}

function written(cell: CsvCell, format: CsvFormat): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell !== 'object') return asText(cell.toString(), format)
  return cell.decimal.replace('.', format.decimalMark)
}

/**
 * Text that a spreadsheet would read as a formula gets an apostrophe, even after the other separator, a tab or a line
 * break: a spreadsheet in another locale starts a new cell there even within quotes.
 */
function asText(text: string, { separator }: CsvFormat): string {
  const plain = text.replaceAll(separator === ',' ? formulaInCommas : formulaInSemicolons, "$1'")
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

const formulaInCommas = /(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g
const formulaInSemicolons = /(^|[,\t\r\n])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g
