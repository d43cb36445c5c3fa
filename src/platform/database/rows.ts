// A row as PostgreSQL reads one of a composite type is its columns in the type's order, between brackets, with commas. On the
// path of every request, so whoever makes one writes it as one text; numbers and ids stand for themselves in it.

/** Any text as a column of such a row; undefined is NULL. */
export function columnText(text: string | undefined): string {
  if (text === undefined) return ''
  return plain.test(text) ? text : `"${text.replaceAll(special, '\\$&')}"`
}

/** Such rows as an array of them. As a parameter it costs the server a third of what the same costs as JSON. */
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
