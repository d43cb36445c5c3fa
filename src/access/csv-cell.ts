/**
 * A cell of a CSV file (RFC 4180). What a spreadsheet would take for a formula gets an apostrophe, so that it stays a
 * text; also behind a semicolon, a tab or a line break, at which spreadsheets of some countries begin a new cell
 * whatever stands in quotes.
 */
export function csvCell(value: string | bigint | null): string {
  const text = value === null ? '' : value.toString()
  const plain = text.replaceAll(/(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g, "$1'")
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
