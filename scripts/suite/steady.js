// Shows whether test files pass however busy the machine is and whatever the date: npm run steady -- FILE…
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiledPath, runtimePath } from '../runtime.js'
import { failuresOf } from './verdict.js'

const usage = `Usage: npm run steady -- FILE…

Runs the test files ten times beside four busy processes, then once as if a month, and once as if a
year, were about to end. The last line is the verdict. The clock is shifted by libfaketime
("apt-get install libfaketime"); without it, those two runs are skipped.
`
const runs = 10
const busyProcesses = 4
/** 20 s before the first of these ends, in UTC, so that it ends while the tests run. */
const turns = { 'the end of a month': '2027-03-01T00:00:00Z', 'the end of a year': '2027-01-01T00:00:00Z' }

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const files = process.argv.slice(2)
if (files.length === 0 || files.includes('--help')) {
  process.stdout.write(usage)
  process.exit(files.length === 0 ? 2 : 0)
}

/** The folder above has one folder per architecture on Debian. */
const libraries = '/usr/lib'
const library = (existsSync(libraries) ? readdirSync(libraries) : [])
  .map((folder) => join(libraries, folder, 'faketime/libfaketimeMT.so.1'))
  .find((path) => existsSync(path))
const counts = { passed: 0, failed: 0, skipped: 0 }

const busy = Array.from({ length: busyProcesses }, () => spawn(process.execPath, ['-e', 'for (;;);']))
process.on('exit', () => endBusy())
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
for (let count = 1; count <= runs; count++)
  await once(`run ${count} of ${runs}, beside ${busyProcesses} busy processes`, {})
endBusy()

for (const [name, end] of Object.entries(turns)) {
  if (library === undefined) {
    counts.skipped++
    console.log(`﹣ at ${name} (libfaketime is not installed)`)
    continue
  }
  const ahead = Math.round((Date.parse(end) - Date.now()) / 1000) - 20
  await once(`at ${name}`, { LD_PRELOAD: library, FAKETIME: `+${ahead}`, FAKETIME_DONT_FAKE_MONOTONIC: '1' })
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exitCode = counts.failed > 0 ? 1 : 0

function endBusy() {
  for (const child of busy) child.kill('SIGKILL')
}

async function once(name, variables) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-steady-'))
  const results = join(folder, 'results.json')
  const request = { root, files, results, concurrency: 2, timeout: 300_000 }
  const output = await run([join(root, 'scripts/suite/run.js'), JSON.stringify(request)], variables)
  const failed = existsSync(results)
    ? failuresOf(JSON.parse(readFileSync(results, 'utf8')))
    : ['the test runner itself']
  rmSync(folder, { recursive: true })
  counts[failed.length > 0 ? 'failed' : 'passed']++
  console.log(`${failed.length > 0 ? '✖' : '✔'} ${name}`)
  if (failed.length > 0) console.log(`${output.trimEnd()}\n${failed.map((title) => `  ${title}`).join('\n')}`)
}

/** Resolves with the output. */
function run(args, variables) {
  return new Promise((resolve) => {
    const env = { NODE_COMPILE_CACHE: compiledPath(root), ...process.env, ...variables }
    const child = spawn(runtimePath(root) ?? process.execPath, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    child.on('close', () => resolve(output))
  })
}
