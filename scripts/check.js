// Checks the whole repository. Every step runs even if another one fails. The last line is the verdict.
import { spawn } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compiledPath, runtimePath, timesPath } from './runtime.js'
import { commandOf, endProcesses, oldestChild, processorTime, startedProcesses } from './started-processes.js'
import { changedTests } from './suite/changed.js'
import { testFiles } from './suite/files.js'
import { filesToRepeat, shares, unproven, verdictOf } from './suite/verdict.js'

const usage = `Usage: node scripts/check.js fast | all | endure [options] [FILE…]

  fast        the static checks, the unit tests, and the tests that most changes break
  all         every check once, with fixed draws: npm test
  endure      the long form of all tests, with random draws; SEED=N repeats a run
  FILE…       only these test files

  --changed[=REF]  fast: only the test files that can see what changed since REF; default: the
                   changes that are not committed or, without any, the last commit
  --silence=MS     end a test file after so many ms without output; default 420000
`

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

/** The longest time of a single test, in ms. */
const timeout = 300_000

const { form, options, files } = readArguments()
if (runtime === undefined || !existsSync(runtime)) {
  process.stderr.write('Nothing is installed yet: run "node scripts/setup.js" first.\n')
  process.exit(2)
}

// Every process that a check starts inherits this variable, so that leftover processes can be found.
const mark = `CHECK_RUN=${randomUUID()}`
const seed = form === 'endure' ? (process.env['SEED'] ?? String(randomInt(2 ** 31))) : undefined
endWithParent()

const chosen = files.length > 0 ? files : choose()
const checked = files.length > 0 ? [] : await Promise.all(statics.map(checkStatic))
const staticTime = processorTime()
const tested = await runTests(chosen)
const passed = checked.filter(Boolean).length + tested.passed
const failed = checked.filter((each) => !each).length + tested.failed
if (seed !== undefined && failed > 0) console.log(`Repeat a failed file with: SEED=${seed} npm run endure -- FILE`)
console.log(`${passed} passed, ${failed} failed, ${tested.skipped} skipped`)
process.exitCode = failed > 0 ? 1 : 0

/** @returns {{ form: 'fast' | 'all' | 'endure', options: { changed?: string, silence: string }, files: string[] }} */
function readArguments() {
  try {
    // An option's value is optional, which parseArgs does not know.
    const args = process.argv.slice(2).map((arg) => (arg === '--changed' ? '--changed=' : arg))
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        changed: { type: 'string' },
        silence: { type: 'string', default: '420000' },
        help: { type: 'boolean' },
      },
    })
    const [first = '', ...rest] = positionals
    if (values.help === true) {
      process.stdout.write(usage)
      process.exit(0)
    }
    if (first === 'fast' || first === 'all' || first === 'endure') return { form: first, options: values, files: rest }
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
  }
  process.stderr.write(usage)
  process.exit(2)
}

function choose() {
  if (options.changed === undefined) return testFiles(root, form)
  const { tests, left, since } = changedTests(root, options.changed, readTimes())
  console.log(`${tests.length} test files can see what changed since ${since}`)
  print('of them would take too long, and run with npm test', left)
  return tests
}

/** Runs one step and prints its output only if it fails. */
async function checkStatic({ name, args }) {
  const started = Date.now()
  const { status, output } = await run(args)
  report(status === 0, name, started)
  if (status !== 0) console.log(output.trimEnd())
  return status === 0
}

/** Runs the tests with live output, repeats the files of a few failed ones, and says what came of it. */
async function runTests(wanted) {
  const started = Date.now()
  if (seed !== undefined) console.log(`Seed ${seed}`)
  if (wanted.length === 0) {
    report(true, 'tests: none can see the change', started)
    return { passed: 0, failed: 0, skipped: 0 }
  }
  // One more than processors: a test waits for the database a third of the time.
  const first = await runFiles(wanted, availableParallelism() + 1)
  const total = processorTime() - staticTime
  const repeated = filesToRepeat(first)
  if (repeated.length > 0) console.log(`Repeating ${repeated.join(' ')}`)
  const second = repeated.length > 0 ? await runFiles(repeated, 1) : undefined
  const { passed: steady, failed: red, unsteady, skipped } = verdictOf(first, second)
  const unnamed =
    files.length > 0 || form === 'fast'
      ? []
      : unproven(criteriaPage(), [...first.outcomes, ...(second?.outcomes ?? [])])
  const left = startedProcesses(mark)
  const commands = left.map((pid) => `${pid}: ${commandOf(pid)}`)
  await endProcesses(left)

  if (options.changed === undefined) keepTimes(first.costs)
  print('skipped', skipped)
  print('criteria that no test of this run has proven', unnamed)
  print('left running', commands)
  print('unsteady: failed once, passed once', unsteady)
  print('failed', red)
  console.log(
    `Processor time:\n${shares(first.costs, { statics: staticTime, total, isLong: form === 'endure' }).join('\n')}`,
  )
  const wrong = red.length + unnamed.length + left.length
  report(wrong === 0, steady + red.length === 0 ? 'tests: none ran to the end' : 'tests', started)
  return { passed: steady, failed: wrong, skipped: skipped.length }
}

/**
 * Runs the files, and again those whose process ended before them.
 * @returns {Promise<import('./suite/run.js').Results>}
 */
async function runFiles(wanted, concurrency) {
  const results = await runOnce(wanted, concurrency)
  if (results.notRun.length === 0 || results.notRun.length === wanted.length) return results
  const rest = await runFiles(results.notRun, concurrency)
  return {
    outcomes: [...results.outcomes, ...rest.outcomes],
    endedEarly: [...results.endedEarly, ...rest.endedEarly],
    notRun: rest.notRun,
    costs: [...results.costs, ...rest.costs],
    success: results.success && rest.success,
  }
}

/** @returns {Promise<import('./suite/run.js').Results>} */
async function runOnce(wanted, concurrency) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'))
  const results = join(folder, 'results.json')
  const request = JSON.stringify({ root, files: wanted, results, concurrency, timeout })
  let silence
  await run([join(root, 'scripts/suite/run.js'), request], (runner) => {
    const listen = () => {
      clearInterval(silence)
      silence = setInterval(() => endOldestFile(runner), Number(options.silence))
    }
    listen()
    for (const stream of [runner.stdout, runner.stderr]) {
      stream?.on('data', (data) => {
        process.stdout.write(data)
        listen()
      })
    }
  })
  clearInterval(silence)
  const none = { outcomes: [], endedEarly: [], notRun: wanted, costs: [], success: false }
  const found = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : none
  rmSync(folder, { recursive: true })
  return found
}

/**
 * Ends the test file that keeps the runner from reporting the others, which it reports in order; or the runner, if no file runs or
 * there is no /proc. The processes of the set-up continue.
 */
function endOldestFile(runner) {
  const ids = oldestChild(runner.pid, /\.test\.\w+$/)
  const what = ids.length > 0 ? commandOf(ids[0]).split(' ').at(-1) : 'the tests'
  console.log(`No output for ${Number(options.silence) / 1000} s: ending ${what}`)
  if (ids.length > 0) void endProcesses(ids)
  else runner.kill('SIGTERM')
}

function criteriaPage() {
  const page = join(root, 'docs/criteria.md')
  return existsSync(page) ? readFileSync(page, 'utf8') : ''
}

/** Keeps what each file cost, for `npm run test:times` and for the choice of `--changed`. */
function keepTimes(costs) {
  mkdirSync(dirname(timesPath(root)), { recursive: true })
  const known = new Map(readTimes().map((cost) => [cost.file, cost]))
  for (const cost of costs) known.set(cost.file, cost)
  writeFileSync(timesPath(root), JSON.stringify([...known.values()]))
}

function readTimes() {
  return existsSync(timesPath(root)) ? JSON.parse(readFileSync(timesPath(root), 'utf8')) : []
}

function print(title, lines) {
  if (lines.length > 0) console.log(`${lines.length} ${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/**
 * Runs a program on the pinned runtime. `onStart`, if given, receives it, to follow its output.
 * @param {string[]} args
 * @param {(child: import('node:child_process').ChildProcess) => void} [onStart]
 * @returns {Promise<{ status: number | null, output: string }>}
 */
function run(args, onStart) {
  return new Promise((resolve) => {
    const child = spawn(runtime, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    onStart?.(child)
    child.on('error', (error) => resolve({ status: 1, output: error.message }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

/**
 * Omits the variables that Tollgate and PostgreSQL's driver read, so that checks behave the same on every machine. Hundreds of
 * processes load the same modules, so the runtime keeps them compiled.
 */
function environment() {
  const ours = /^(TOLLGATE_.*|PG.*|DATABASE_URL|PORT|HOST|NODE_OPTIONS|NODE_TEST_CONTEXT|ENDURE|SEED)$/
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name))
  const color = process.stdout.isTTY ? [['FORCE_COLOR', '1']] : []
  const compiled = ['NODE_COMPILE_CACHE', compiledPath(root)]
  const draws = seed === undefined ? [] : Object.entries({ ENDURE: '1', SEED: seed })
  return Object.fromEntries([...color, compiled, ...kept, ...draws, mark.split('=')])
}

function report(isPassed, name, started) {
  console.log(`${isPassed ? '✔' : '✖'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`)
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
