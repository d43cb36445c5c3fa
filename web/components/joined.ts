/** The rows loaded so far, and the cursor of the next page. */
export interface Pages<Row> {
  readonly rows: readonly Row[]
  readonly next: string | null
}

/**
 * Joins a refetched first page with the later pages that were loaded before. No row appears twice, even if rows were
 * added, removed or moved. If the later pages no longer connect, returns the first page alone.
 */
export function joined<Row>(
  first: Pages<Row>,
  longer: Pages<Row> | undefined,
  idOf: (row: Row) => unknown,
): Pages<Row> {
  if (!longer) return first
  const before = longer.rows.map(idOf)
  const ids = new Set(before)
  const last = first.rows.findLast((row) => ids.has(idOf(row)))
  if (last === undefined) return first
  const shown = new Set(first.rows.map(idOf))
  const rest = longer.rows.slice(before.indexOf(idOf(last))).filter((row) => {
    const isNew = !shown.has(idOf(row))
    shown.add(idOf(row))
    return isNew
  })
  return rest.length === 0 ? first : { rows: [...first.rows, ...rest], next: longer.next }
}
