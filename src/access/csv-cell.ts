/**
 * A cell of a CSV file (RFC 4180). Text that a spreadsheet would read as a formula gets an apostrophe, even after a
 * semicolon, a tab or a line break: in some locales, spreadsheets start a new cell there even within quotes.
 */
export function csvCell(value: string | bigint | null): string {
  const text = value === null ? '' : value.toString()
  const plain = text.replaceAll(/(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠]|[\t\r])/g, "$1'")
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
