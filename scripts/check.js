// Checks the whole repository: `fast` or `all`. Every step runs, whatever the others find; the last line is the verdict.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runtimePath } from './runtime.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runtime = runtimePath(root)
const tool = (name) => join(root, 'node_modules/.bin', name)

const statics = [
  { name: 'format', args: [tool('oxfmt'), '--check', '.'] },
  { name: 'lint', args: [tool('oxlint'), '--type-aware'] },
  { name: 'types', args: [tool('tsc'), '-p', '.'] },
  { name: 'types of the pages', args: [tool('tsc'), '-p', 'web'] },
  { name: 'unused code', args: [tool('knip'), '--no-progress'] },
]
const testFiles = {
  fast: ['src/**/*.test.ts', 'web/**/*.test.ts'],
  all: ['src/**/*.test.ts', 'web/**/*.test.ts', 'tests/**/*.test.ts', 'models/**/*.test.ts', 'bench/*.test.ts'],
}

// Milliseconds without a word of the tests; a test itself gets two minutes.
const [mode, longestSilence = '180000'] = process.argv.slice(2)
if (!Object.hasOwn(testFiles, mode)) {
  process.stderr.write('Usage: node scripts/check.js fast | all\n')
  process.exit(2)
}
if (runtime === undefined || !existsSync(runtime)) {
  process.stderr.write('Nothing is installed yet: run "node scripts/setup.js" first.\n')
  process.exit(2)
}

const results = [...(await Promise.all(statics.map(checkStatic))), await runTests(testFiles[mode])]
const sum = (what) => results.reduce((total, result) => total + result[what], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0

/** Runs one step to its end and shows what it said only if it failed. */
async function checkStatic({ name, args }) {
  const started = Date.now()
  const { status, output } = await run(args)
  const passed = status === 0
  report(passed, name, started)
  if (!passed) console.log(output.trimEnd())
  return { passed: Number(passed), failed: Number(!passed) }
}

/** Runs the tests, which show themselves as they go. No test at all is a failure, and so is a file that does not end. */
async function runTests(patterns) {
  const started = Date.now()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'))
  const totals = join(folder, 'totals.json')
  const args = [
    '--test',
    '--test-global-setup=tests/support/global-setup.ts',
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    '--test-timeout=120000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test-counts.js',
    `--test-reporter-destination=${totals}`,
    ...patterns,
  ]
  let silence
  const { status } = await run(args, (data, child) => {
    process.stdout.write(data)
    clearTimeout(silence)
    // On this signal the runner names the files that still run, and ends them.
    silence = setTimeout(() => child.kill('SIGTERM'), Number(longestSilence))
  })
  clearTimeout(silence)
  const counts = existsSync(totals) ? JSON.parse(readFileSync(totals, 'utf8') || '{}') : {}
  rmSync(folder, { recursive: true })
  const passed = counts.passed ?? 0
  const found = (counts.failed ?? 0) + (counts.cancelled ?? 0)
  // The runner may fail without a test that does: at its own set-up, or killed.
  const failed = found === 0 && (passed === 0 || status !== 0) ? 1 : found
  report(failed === 0, passed + found === 0 ? 'tests: none ran to the end' : 'tests', started)
  return { passed, failed }
}

/** Runs a program of the pinned runtime to its end. What it says goes to `onData` as it comes, and is returned. */
function run(args, onData = () => undefined) {
  return new Promise((resolve) => {
    const child = spawn(runtime, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data
        onData(data, child)
      })
    }
    child.on('error', (error) => resolve({ status: 1, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

/** Without the variables that Tollgate and PostgreSQL's driver read: the checks are the same on every machine. */
function environment() {
  const ours = /^(TOLLGATE_.*|PG.*|DATABASE_URL|PORT|HOST|NODE_OPTIONS|NODE_TEST_CONTEXT)$/
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name))
  return Object.fromEntries(process.stdout.isTTY ? [['FORCE_COLOR', '1'], ...kept] : kept)
}

function report(passed, name, started) {
  console.log(`${passed ? '✔' : '✖'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
}
