import type { Context } from './context.ts'

/** How a column of a table is set. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Numbers stand at the right, so that their digits line up. */
  readonly right?: true
}

/** One JSON document, and nothing else, on stdout. */
export function writeJson({ stdout }: Pick<Context, 'stdout'>, document: unknown): void {
  stdout.write(`${jsonOf(document)}\n`)
}

/** JSON has no bigint: as a number it would lose digits, so it becomes a text. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))
}

export function writeLines({ stdout }: Pick<Context, 'stdout'>, ...lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${line}\n`).join(''))
}

export function warn({ stderr }: Pick<Context, 'stderr'>, text: string): void {
  stderr.write(`${text}\n`)
}

/** A table with aligned columns, or `empty`, which says what to do next. */
export function writeTable<Row>(
  context: Pick<Context, 'stdout'>,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  empty: string,
): void {
  if (rows.length === 0) return writeLines(context, empty)
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => text(row)))]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)))
  const set = (cell: string, index: number) =>
    columns[index]?.right ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0)
  writeLines(context, ...cells.map((line) => line.map(set).join('  ').trimEnd()))
}

/** How an exact decimal of the currency is shown to people: with as many places as the currency has, or more. */
export function amountsIn(currency: string): (decimal: string) => string {
  const { maximumFractionDigits: places = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return (decimal) => {
    const [whole = '', fraction = ''] = decimal.split('.')
    const shown = fraction.padEnd(places, '0')
    return shown === '' ? whole : `${whole}.${shown}`
  }
}

/** Bytes for people. */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

/** A time for people, in UTC, to the minute. */
export function minuteOf(time: Date | null): string {
  return time === null ? '-' : `${time.toISOString().slice(0, 16).replace('T', ' ')}Z`
}

export function timeOrNull(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
