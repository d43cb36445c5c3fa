// Checks the whole repository: `fast` or `all`. Every step runs even if another one fails. The last line is the verdict.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiledPath, runtimePath } from './runtime.js'
import { commandOf, endProcesses, oldestChild, startedProcesses } from './started-processes.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const runtime = runtimePath(root)
const tool = (name) => join(root, 'node_modules/.bin', name)

const statics = [
  { name: 'format', args: [tool('oxfmt'), '--check', '.'] },
  { name: 'lint', args: [tool('oxlint'), '--type-aware'] },
  { name: 'types', args: [tool('tsc'), '-p', '.'] },
  { name: 'types of the pages', args: [tool('tsc'), '-p', 'web'] },
  { name: 'types of scripts and examples', args: [tool('tsc'), '-p', 'tsconfig.scripts.json'] },
  { name: 'unused code', args: [tool('knip'), '--no-progress'] },
  {
    name: 'code that only tests use',
    args: [tool('knip'), '--production', '--include', 'files,exports,types', '--no-progress'],
  },
]
const testFiles = {
  // Besides the unit tests: the structure, the documents and the access matrix, which most changes can break.
  fast: [
    'src/**/*.test.ts',
    'web/**/*.test.ts',
    'tests/{architecture,criteria,docs}.test.ts',
    'tests/http/access-matrix.test.ts',
  ],
  all: ['**/*.test.{ts,tsx,js,mjs}'],
}

// The longest time in ms without test output. A single test may take five minutes.
const [mode, longestSilence = '420000'] = process.argv.slice(2)
if (!Object.hasOwn(testFiles, mode)) {
  process.stderr.write('Usage: node scripts/check.js fast | all\n')
  process.exit(2)
}
if (runtime === undefined || !existsSync(runtime)) {
  process.stderr.write('Nothing is installed yet: run "node scripts/setup.js" first.\n')
  process.exit(2)
}

// Every process that a check starts inherits this variable, so that leftover processes can be found.
const mark = `CHECK_RUN=${randomUUID()}`
endWithParent()

const results = [...(await Promise.all(statics.map(checkStatic))), await runTests(testFiles[mode])]
const sum = (what) => results.reduce((total, result) => total + result[what], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = sum('failed') > 0 ? 1 : 0

/** Runs one step and prints its output only if it fails. */
async function checkStatic({ name, args }) {
  const started = Date.now()
  const { status, output } = await run(args)
  const passed = status === 0
  report(passed, name, started)
  if (!passed) console.log(output.trimEnd())
  return { passed: Number(passed), failed: Number(!passed) }
}

/** Runs the tests with live output, and also fails on problems that the runner does not count as failures. */
async function runTests(patterns) {
  const started = Date.now()
  const { status, totals } = await runTestFiles(patterns)
  const { counts = {}, skipped = [], todo = [], endedEarly = [] } = totals
  const passed = (counts.passed ?? 0) - endedEarly.length
  const left = startedProcesses(mark)
  print('skipped', skipped)
  print('marked as todo, which counts as a failure', todo)
  print('ended before its last test', endedEarly)
  print(
    'left running',
    left.map((pid) => `${pid}: ${commandOf(pid)}`),
  )
  await endProcesses(left)
  const found = (counts.failed ?? 0) + (counts.cancelled ?? 0) + todo.length + endedEarly.length + left.length
  // The runner itself may fail without a failed test: in its set-up, or killed.
  const failed = found === 0 && (passed === 0 || status !== 0) ? 1 : found
  report(failed === 0, passed + found === 0 ? 'tests: none ran to the end' : 'tests', started)
  return { passed, failed }
}

async function runTestFiles(patterns) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'))
  const file = join(folder, 'totals.json')
  const args = [
    '--test',
    '--test-global-setup=tests/support/global-setup.ts',
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    '--test-timeout=300000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test-totals.js',
    `--test-reporter-destination=${file}`,
    ...patterns,
  ]
  let silence
  const { status } = await run(args, (data, runner) => {
    process.stdout.write(data)
    clearInterval(silence)
    silence = setInterval(() => endOldestFile(runner), Number(longestSilence))
  })
  clearInterval(silence)
  const totals = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8') || '{}') : {}
  rmSync(folder, { recursive: true })
  return { status, totals }
}

/**
 * Ends the test file that keeps the runner from reporting the others, which it reports in order; or the runner, if no file runs or
 * there is no /proc. The processes of the set-up continue.
 */
function endOldestFile(runner) {
  const ids = oldestChild(runner.pid, /\.test\.\w+$/)
  const what = ids.length > 0 ? commandOf(ids[0]).split(' ').at(-1) : 'the tests'
  console.log(`No output for ${Number(longestSilence) / 1000} s: ending ${what}`)
  if (ids.length > 0) void endProcesses(ids)
  else runner.kill('SIGTERM')
}

function print(title, lines) {
  if (lines.length > 0) console.log(`${lines.length} ${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/**
 * Runs a program on the pinned runtime. `onData`, if given, receives the output as it comes.
 * @param {string[]} args
 * @param {(data: Buffer, child: import('node:child_process').ChildProcess) => void} [onData]
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function run(args, onData) {
  return new Promise((resolve) => {
    const child = spawn(runtime, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data
        onData?.(data, child)
      })
    }
    child.on('error', (error) => resolve({ status: 1, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

/**
 * Omits the variables that Tollgate and PostgreSQL's driver read, so that checks behave the same on every machine. Hundreds of
 * processes load the same modules, so the runtime keeps them compiled.
 */
function environment() {
  const ours = /^(TOLLGATE_.*|PG.*|DATABASE_URL|PORT|HOST|NODE_OPTIONS|NODE_TEST_CONTEXT)$/
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const color = process.stdout.isTTY ? [['FORCE_COLOR', '1']] : []
  const compiled = ['NODE_COMPILE_CACHE', compiledPath(root)]
  return Object.fromEntries([...color, compiled, ...kept, mark.split('=')])
}

function report(passed, name, started) {
  console.log(`${passed ? '✔' : '✖'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
}

/** Ends all started processes when this process gets a signal to stop or its parent shell exits. */
function endWithParent() {
  const parent = process.ppid
  let isEnding = false
  async function end(signal) {
    if (isEnding) return
    isEnding = true
    await endProcesses(startedProcesses(mark))
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void end(signal))
  setInterval(() => process.ppid !== parent && void end('SIGHUP'), 1000).unref()
}
