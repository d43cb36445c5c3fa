import type { LineFault } from '../../platform/text/csv-records.ts'
import { quoted } from '../../platform/text/one-line.ts'
import { UnreadableLine } from '../../platform/text/text-stream.ts'
import { openRows, type ExportRow } from './export-rows.ts'
import { anthropicCsv, anthropicReport } from './formats/anthropic.ts'
import { deepSeekExport } from './formats/deepseek.ts'
import { ExportCells, type ExportFormat } from './formats/export-format.ts'
import { openAiExport } from './formats/openai.ts'
import { openRouterActivity, openRouterDays, openRouterGenerations } from './formats/openrouter.ts'
import { plain } from './formats/plain.ts'
import type { ModelGroup, ModelGroups } from './model-groups.ts'
import { measureNames, type Measure, type VendorRow } from './vendor-row.ts'

const formats: readonly ExportFormat[] = [
  openAiExport,
  anthropicReport,
  anthropicCsv,
  openRouterActivity,
  openRouterDays,
  openRouterGenerations,
  deepSeekExport,
  plain,
]

/** What a vendor counted for a group of models on a day. */
export interface VendorDay {
  /** A day in UTC. */
  readonly day: string
  readonly group: ModelGroup
  readonly counts: ReadonlyMap<Measure, bigint>
}

export interface UsageExport {
  readonly format: string
  /** The rows with usage. */
  readonly rows: number
  /** The first and the last day in the file. */
  readonly from: string
  readonly to: string
  /** What the file has counts of. */
  readonly measures: readonly Measure[]
  readonly days: readonly VendorDay[]
  /** Whether the vendor has more pages after the last one. */
  readonly hasMore: boolean
}

export interface ExportOptions {
  readonly models: ModelGroups
  /** Names of models that are not compared. */
  readonly skippedModels: ReadonlySet<string>
  /** Columns that are not read, although this version does not know them. */
  readonly skippedColumns: ReadonlySet<string>
  /** Days before and after these are not read. Default: all. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Rows that one comparison reads, and faults that it names. */
const [mostRows, mostFaults] = [2_000_000, 1000]
const day = 86_400_000

/** Sums an export by day and group of models, without keeping its rows. Returns all faults if it has any. */
export async function readUsageExport(
  chunks: AsyncIterable<Uint8Array>,
  options: ExportOptions,
): Promise<UsageExport | LineFault[]> {
  const sum = new ExportSum(options)
  try {
    const rows = await openRows(chunks)
    for await (const row of rows) if (!sum.add(row)) return sum.faults
    return sum.result(rows.hasMore())
  } catch (error) {
    if (!(error instanceof UnreadableLine)) throw error
    return [...sum.faults, { line: error.line, reason: error.message }]
  }
}

class ExportSum {
  readonly faults: LineFault[] = []
  readonly #options: ExportOptions
  #format: ExportFormat | undefined
  #rows = 0
  #first = Infinity
  #last = -Infinity
  readonly #measures = new Set<Measure>()
  readonly #days = new Map<string, { day: string; group: ModelGroup; counts: Map<Measure, bigint> }>()
  readonly #unknown = new Set<string>()
  /** By what tells rows of the same time apart: start, end and line of each, one after the other. */
  readonly #series = new Map<string, number[]>()
  readonly #ids = new Map<string, number>()
  readonly #dayNames = new Map<number, string>()

  constructor(options: ExportOptions) {
    this.#options = options
  }

  /** Returns whether to go on. */
  add({ line, cells }: ExportRow): boolean {
    this.#format ??= formats.find(({ recognised }) => recognised.every((name) => cells.has(name)))
    if (this.#format === undefined) {
      const names = [...cells.keys()]
      this.faults.push({
        line,
        reason: `this is no usage export that Tollgate knows: it has ${names.map(quoted).join(', ')}`,
      })
      return false
    }
    const { columns } = this.#format
    for (const name of cells.keys()) {
      if (columns[name] !== undefined || this.#options.skippedColumns.has(name)) continue
      this.#unknownOnce(`column ${name}`, line, `unknown column ${quoted(name)}: --skip-column leaves it out`)
    }
    // A header, or an empty line of a spreadsheet.
    if ([...cells.values()].some((cell) => cell !== '')) this.#addRow(line, cells, this.#format)
    return this.faults.length < mostFaults
  }

  #addRow(line: number, cells: ReadonlyMap<string, string>, format: ExportFormat): void {
    let row: VendorRow
    try {
      row = format.read(new ExportCells(cells))
      if (row.end <= row.start) throw new RangeError('its time ends before it begins')
      if (this.#dayOf(row.start) !== this.#dayOf(row.end - 1)) {
        throw new RangeError('its time is in two days in UTC: export the usage by day or by hour, in UTC')
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.faults.push({ line, reason: error.message })
      return
    }
    const at = this.#dayOf(row.start)
    if (at < (this.#options.from ?? at) || at > (this.#options.to ?? at)) return
    this.#first = Math.min(this.#first, row.start)
    this.#last = Math.max(this.#last, row.start)
    if (row.model !== null) this.#count(line, row, row.model, labelsOf(cells, format))
  }

  #count(line: number, row: VendorRow, model: string, labels: string): void {
    this.#rows += 1
    if (this.#rows > mostRows)
      throw new UnreadableLine(line, `there are more than ${mostRows} rows: compare fewer days at once`)
    if (model === '') {
      this.faults.push({ line, reason: 'it names no model: group the export by model' })
      return
    }
    this.#note(line, row, `${labels}\n${model}`)
    if (this.#options.skippedModels.has(model)) return
    const group = this.#options.models.of(model)
    if (group === undefined) {
      const reason = `unknown model ${quoted(model)}: --model ${quoted(`${model}=<id>`)} names its model, --skip-model leaves it out`
      this.#unknownOnce(`model ${model}`, line, reason)
      return
    }
    const at = this.#dayOf(row.start)
    const key = `${at} ${group.name}`
    const sums = this.#days.get(key) ?? { day: at, group, counts: new Map<Measure, bigint>() }
    this.#days.set(key, sums)
    for (const measure of measureNames) {
      const count = row.counts[measure]
      if (count === undefined) continue
      this.#measures.add(measure)
      sums.counts.set(measure, (sums.counts.get(measure) ?? 0n) + count)
    }
  }

  #note(line: number, { start, end, id, apart = [] }: VendorRow, series: string): void {
    if (id !== undefined) {
      const earlier = this.#ids.get(id)
      if (earlier !== undefined)
        this.faults.push({ line, reason: `it repeats line ${earlier}: both have the id ${quoted(id)}` })
      this.#ids.set(id, line)
      return
    }
    for (const part of apart.length === 0 ? [''] : apart) {
      const key = `${series}\n${part}`
      const times = this.#series.get(key) ?? []
      if (times.length === 0) this.#series.set(key, times)
      times.push(start, end, line)
    }
  }

  /** The UTC day of a time. Each is written once: a large export asks for it millions of times. */
  #dayOf(time: number): string {
    const number = Math.floor(time / day)
    const known = this.#dayNames.get(number) ?? new Date(number * day).toISOString().slice(0, 10)
    this.#dayNames.set(number, known)
    return known
  }

  #unknownOnce(what: string, line: number, reason: string): void {
    if (!this.#unknown.has(what)) this.faults.push({ line, reason })
    this.#unknown.add(what)
  }

  result(hasMore: boolean): UsageExport | LineFault[] {
    this.#findOverlaps()
    if (this.faults.length > 0 || this.#format === undefined) return this.faults
    if (this.#last === -Infinity) return [{ line: 1, reason: 'there is no usage in this file, or none of these days' }]
    return {
      format: this.#format.name,
      rows: this.#rows,
      from: this.#dayOf(this.#first),
      to: this.#dayOf(this.#last),
      measures: measureNames.filter((name) => this.#measures.has(name)),
      days: [...this.#days.values()],
      hasMore,
    }
  }

  #findOverlaps(): void {
    for (const times of this.#series.values()) {
      const rows = Array.from({ length: times.length / 3 }, (_, n) => times.slice(3 * n, 3 * n + 3))
      rows.sort(([start = 0, , line = 0], [other = 0, , otherLine = 0]) => start - other || line - otherLine)
      let [latest, latestLine] = [-Infinity, 0]
      for (const [start = 0, end = 0, line = 0] of rows) {
        if (start < latest && this.faults.length < mostFaults) {
          const [first, second] = [Math.min(line, latestLine), Math.max(line, latestLine)]
          this.faults.push({
            line: second,
            reason: `it has the same time, or part of it, and the same model as line ${first}`,
          })
        }
        if (end > latest) [latest, latestLine] = [end, line]
      }
    }
    this.faults.sort((one, other) => one.line - other.line)
  }
}

function labelsOf(cells: ReadonlyMap<string, string>, { columns }: ExportFormat): string {
  let labels = ''
  for (const [name, cell] of cells) if (columns[name] === 'label') labels += `${name} ${cell}\n`
  return labels
}
