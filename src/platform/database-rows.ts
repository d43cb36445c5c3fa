/** What a column of a row may hold; undefined is NULL. */
export type Value = string | number | bigint | undefined

/** A row as PostgreSQL reads one of a composite type, its columns in the type's order. */
export const rowText = (values: readonly Value[]): string => `(${values.map(valueText).join(',')})`

/** Such rows as an array of them. As a parameter it costs the server a third of what the same costs as JSON. */
export const rowsText = (rows: readonly string[]): string => `{${rows.map(elementText).join(',')}}`

const elementText = (row: string): string =>
  `"${row.includes('"') || row.includes('\\') ? row.replaceAll(/["\\]/g, '\\$&') : row}"`

const plain = /^[\w.:-]+$/

function valueText(value: Value): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value)
  return plain.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}
