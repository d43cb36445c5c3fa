import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { formatTable, isMet, median, type Row } from './row.ts'

/** The benchmarks by name. Each module is loaded only when its benchmark runs. */
const benchmarks: Readonly<Record<string, () => Promise<Row[]>>> = {
  http: async () => (await import('./http.ts')).benchHttp(),
  keys: async () => (await import('./keys.ts')).benchKeys(),
  processes: async () => (await import('./processes.ts')).benchProcesses(),
  stream: async () => (await import('./stream.ts')).benchStream(),
  tools: async () => (await import('./tools.ts')).benchTools(),
  paired: async () => (await import('./paired.ts')).benchPaired(),
  records: async () => (await import('./records.ts')).benchRecords(),
  pages: async () => (await import('./pages.ts')).benchPages(),
  uploads: async () => (await import('./uploads.ts')).benchUploads(),
  documents: async () => (await import('./documents.ts')).benchDocuments(),
  invoices: async () => (await import('./invoices.ts')).benchInvoices(),
  drafts: async () => (await import('./drafts.ts')).benchDrafts(),
  passwords: async () => (await import('./passwords.ts')).benchPasswords(),
  engine: async () => (await import('./engine.ts')).benchEngine(),
  start: async () => (await import('./start.ts')).benchStart(),
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  console.error(`Unknown benchmark ${unknown.join(', ')}. The benchmarks are ${Object.keys(benchmarks).join(', ')}.`)
  process.exit(2)
}

const rows: Row[] = []
for (const [name, bench] of Object.entries(benchmarks)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  console.log(`${name} …`)
  rows.push(...(await bench()))
}
console.log(`\n${formatTable(rows)}\n`)
await save(rows)
process.exitCode = rows.every(({ samples, goal }) => isMet(samples, goal) !== false) ? 0 : 1

/** Writes the rows, with their medians and the machine, to bench/results/latest.json. */
async function save(measured: readonly Row[]): Promise<void> {
  const folder = join(import.meta.dirname, 'results')
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'latest.json')
  const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, cores: cpus().length }
  const summary = measured.map((row) => ({
    ...row,
    median: median(row.samples),
    met: isMet(row.samples, row.goal),
    nextMet: isMet(row.samples, row.nextGoal),
  }))
  await writeFile(file, `${JSON.stringify({ at: new Date().toISOString(), machine, rows: summary }, null, 2)}\n`)
  console.log(`Written to ${file}`)
}
