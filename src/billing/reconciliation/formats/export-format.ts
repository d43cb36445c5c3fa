import { quoted } from '../../../platform/text/one-line.ts'
import type { VendorRow } from '../vendor-row.ts'

/** What a column is for: it is read, tells rows of the same time apart, or says nothing that the ledger has. */
export type ColumnRole = 'read' | 'label' | 'other'

/** A format of a vendor's usage export. Columns are those of CSV, or the fields of JSON, with a point for fields of fields. */
export interface ExportFormat {
  /** As a message names it. */
  readonly name: string
  /** Columns by which it is recognised. */
  readonly recognised: readonly string[]
  readonly columns: Readonly<Record<string, ColumnRole>>
  /** Throws a RangeError that names the column. */
  read(this: void, cells: ExportCells): VendorRow
}

/** Names of columns that are only labels, or only others. */
export function columnsOf(roles: Readonly<Record<ColumnRole, readonly string[]>>): Record<string, ColumnRole> {
  const of = (role: ColumnRole) => roles[role].map((name) => [name, role] as const)
  return Object.fromEntries([...of('read'), ...of('label'), ...of('other')])
}

const day = 86_400_000
const largest = 10n ** 15n

/** The cells of one row by their columns. Each function throws a RangeError that completes "line 1: …". */
export class ExportCells {
  readonly #cells: ReadonlyMap<string, string>

  constructor(cells: ReadonlyMap<string, string>) {
    this.#cells = cells
  }

  /** Empty if the row does not have it. */
  text(column: string): string {
    return this.#cells.get(column) ?? ''
  }

  required(column: string): string {
    const text = this.text(column)
    if (text === '') throw new RangeError(`${column} is missing`)
    return text
  }

  /** A count. Programs that know only floats write `3.0`. Zero if it is missing. */
  count(column: string): bigint {
    const text = this.text(column)
    if (text === '') return 0n
    const [, whole] = /^(\d{1,16})(?:\.0*)?$/.exec(text) ?? []
    if (whole === undefined || BigInt(whole) > largest) {
      throw new RangeError(`${column} is ${quoted(text)}, but must be a whole number of at most ${largest}`)
    }
    return BigInt(whole)
  }

  /** Whether the row has none of these counts. */
  hasNone(columns: readonly string[]): boolean {
    return columns.every((column) => this.text(column) === '')
  }

  /** The UTC day that a date or a time without a zone names. */
  day(column: string): { start: number; end: number } {
    const [, date = ''] = /^(\d{4}-\d{2}-\d{2})(?:[T ]00:00:00(?:\.0+)?)?$/.exec(this.required(column)) ?? []
    const start = Date.parse(`${date}T00:00:00Z`)
    if (Number.isNaN(start) || new Date(start).toISOString().slice(0, 10) !== date) {
      throw new RangeError(`${column} is ${quoted(this.text(column))}, but must be a day such as 2026-10-31`)
    }
    return { start, end: start + day }
  }

  /** Seconds since the epoch, as ms. */
  seconds(column: string): number {
    const [, whole] = /^(\d{9,11})(?:\.0*)?$/.exec(this.required(column)) ?? []
    if (whole === undefined)
      throw new RangeError(`${column} is ${quoted(this.text(column))}, but must be a time in seconds`)
    return Number(whole) * 1000
  }

  /** A time of RFC 3339, in UTC if it names no zone, as ms. */
  time(column: string): number {
    const text = this.required(column)
    const [, date, clock, zone = 'Z'] =
      /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?(Z|[+-]\d{2}:\d{2})?$/.exec(text) ?? []
    const at = date === undefined ? Number.NaN : Date.parse(`${date}T${clock}${zone}`)
    if (Number.isNaN(at))
      throw new RangeError(`${column} is ${quoted(text)}, but must be a time such as 2026-10-31T12:00:00Z`)
    return at
  }
}
