import { fstatSync, statSync } from 'node:fs'
import { OperatorError } from '../../platform/problems.ts'
import type { Context } from '../context.ts'

/** A column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  /** Right-aligned, as numbers are. */
  readonly right?: true
}

/** One JSON document, and nothing else, on stdout. */
export function writeJson({ stdout }: Pick<Context, 'stdout'>, document: unknown): void {
  stdout.write(`${jsonOf(document)}\n`)
}

/** A bigint becomes a string: as a JSON number it would lose digits. */
export function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? part.toString() : part))
}

export function writeLines({ stdout }: Pick<Context, 'stdout'>, ...lines: readonly string[]): void {
  stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/**
 * Writes a key, which is shown only once. Rejects with OperatorError if the write fails or goes to the null device,
 * where nobody can read it.
 */
export async function writeKey(context: Pick<Context, 'stdout'>, text: string): Promise<void> {
  requireReader(context, 'the key')
  await writeOrFail(context, text, 'The key could not be written, so none was created')
}

/** Throws OperatorError if standard output is the null device, before a secret is created that nobody would see. */
export function requireReader({ stdout }: Pick<Context, 'stdout'>, secret: string): void {
  if (!isNullDevice(stdout)) return
  throw new OperatorError(`Standard output is closed or discarded, so nobody would see ${secret}. None was created.`)
}

/** Rejects with OperatorError, which begins with `failure`, if the text cannot be written. */
export async function writeOrFail({ stdout }: Pick<Context, 'stdout'>, text: string, failure: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stdout.write(text, (error) => {
      if (error) reject(new OperatorError(`${failure}: ${error.message}.`))
      else resolve()
    })
  })
}

/** Node opens the null device in place of a standard stream that is closed. */
function isNullDevice(stream: Context['stdout']): boolean {
  if (!('fd' in stream) || typeof stream.fd !== 'number') return false
  return fstatSync(stream.fd).rdev === statSync('/dev/null').rdev
}

export function warn({ stderr }: Pick<Context, 'stderr'>, text: string): void {
  stderr.write(`${text}\n`)
}

/** A table with aligned columns; without rows, `empty`, a hint about what to do next. */
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

/** A size in kB, MB or GB. */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}

export function timeOrNull(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
