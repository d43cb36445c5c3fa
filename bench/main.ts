import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { isMet, median, printable, type Row } from './row.ts'

/** Every benchmark by the name it is asked for. Each is loaded only when it runs. */
const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  http: async () => (await import('./http.ts')).benchHttp(),
  stream: async () => (await import('./stream.ts')).benchStream(),
  records: async () => (await import('./records.ts')).benchRecords(),
  engine: async () => (await import('./engine.ts')).benchEngine(),
  start: async () => (await import('./start.ts')).benchStart(),
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}: choose from ${Object.keys(benchmarks).join(', ')}.`)
  process.exit(2)
}

const rows: Row[] = []
for (const [name, bench] of Object.entries(benchmarks)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  console.log(`${name} …`)
  rows.push(...(await bench()))
}
console.log(`\n${printable(rows)}\n`)
await keep(rows)
process.exitCode = rows.every((row) => isMet(row) !== false) ? 0 : 1

/** Writes the rows, with their medians and the machine, to bench/results/latest.json. */
async function keep(measured: readonly Row[]): Promise<void> {
  const folder = join(import.meta.dirname, 'results')
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'latest.json')
  const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, cores: cpus().length }
  const summary = measured.map((row) => ({ ...row, median: median(row.samples), met: isMet(row) }))
  await writeFile(file, `${JSON.stringify({ at: new Date().toISOString(), machine, rows: summary }, null, 2)}\n`)
  console.log(`Written to ${file}`)
}
