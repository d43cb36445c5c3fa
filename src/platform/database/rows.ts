// Values of composite types in PostgreSQL's text format: `(column,column)`. This code runs for every request, so callers write
// the row themselves. Numbers and ids need no escaping.

/** Escapes a column; undefined is NULL. */
export function columnText(text: string | undefined): string {
  if (text === undefined) return ''
  return plain.test(text) ? text : `"${text.replaceAll(special, '\\$&')}"`
}

/** An array of rows. The server parses it in a third of the time that JSON takes. */
export function rowsText(rows: readonly string[]): string {
  let text = ''
  for (const row of rows) {
    const inside = row.includes('"') || row.includes('\\') ? row.replaceAll(special, '\\$&') : row
    text += text === '' ? `"${inside}"` : `,"${inside}"`
  }
  return `{${text}}`
}

const plain = /^[\w.:-]+$/
const special = /["\\]/g
