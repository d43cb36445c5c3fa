// Runs test files on the pinned runtime, with live output, and writes what happened to a file. One argument, in JSON.
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { batchesOf } from './files.js'

/**
 * One test, suite or file that has an outcome of its own: not a suite that failed only because of its tests.
 * @typedef {object} Outcome
 * @property {string} file Relative to the root.
 * @property {string} name With the names of its suites; empty for a file that failed as a whole.
 * @property {'passed' | 'failed' | 'skipped' | 'todo'} outcome
 * @property {string} [reason] Of a skipped test.
 */

/**
 * @typedef {object} Results
 * @property {Outcome[]} outcomes
 * @property {{ file: string, ending: string }[]} endedEarly Files that ended before their last test, with the exit code or the
 * signal of their process, or that had no test.
 * @property {string[]} notRun Files whose process ended before them.
 * @property {{ file: string, wall: number, processor: number }[]} costs In seconds.
 * @property {boolean} success The runner's own verdict.
 */

const { root, files, results, concurrency, timeout } = JSON.parse(process.argv[2] ?? '')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-batches-'))
const journal = join(folder, 'journal')
const batches = new Map(batchesOf(root, files).map((batch, index) => [join(folder, `${index}.test.mjs`), batch]))
for (const [entry, batch] of batches) {
  const module = JSON.stringify(join(import.meta.dirname, 'batch.js'))
  const values = [root, batch, journal].map((each) => JSON.stringify(each)).join(', ')
  writeFileSync(entry, `import { runTogether } from ${module}\nawait runTogether(${values})\n`)
}

// The types of Node do not know the set-up yet.
const options = {
  cwd: root,
  files: [...batches.keys()],
  concurrency,
  timeout,
  globalSetupPath: join(root, 'tests/support/global-setup.ts'),
}
const events = run(options)

const byBatch = new Map()
const endings = new Map()
const ended = new Set()
let success = false
events.on('test:complete', (data) => {
  // Only the event of a whole process names no entry file.
  if (data.entryFile === undefined) endings.set(data.name, endingOf(data.details.error))
  byBatch.set(data.entryFile, [...(byBatch.get(data.entryFile) ?? []), data])
})
events.on('test:summary', (data) => {
  // The summary of the whole run names no file.
  if (data.file === undefined) ({ success } = data)
  else ended.add(data.file)
})
events.compose(spec).pipe(process.stdout)
await once(events, 'end')

const lines = existsSync(journal)
  ? readFileSync(journal, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : []
const found = [...batches].map(([entry, batch]) => resultsOf(entry, batch))
const all = (key) => found.flatMap((each) => each[key])
const costs = lines.filter(({ processor }) => processor !== undefined)
const notRun = all('notRun')
writeFileSync(
  results,
  JSON.stringify({
    outcomes: all('outcomes'),
    endedEarly: all('endedEarly'),
    notRun,
    costs: costs.filter(({ file }) => !notRun.includes(file)),
    success: success && notRun.length === 0,
  }),
)
rmSync(folder, { recursive: true })

/** What came of the files of one process. If it ended early, the file that it was at did, and the later ones did not run. */
function resultsOf(entry, batch) {
  const tests = byBatch.get(entry) ?? []
  const byId = new Map(tests.map((each) => [each.testId, each]))
  const parentOf = ({ parentId }) => byId.get(parentId)
  const pathOf = (each) => (each === undefined ? [] : [...pathOf(parentOf(each)), each])
  /** The file of a test, and the names of its suites and itself. */
  const placeOf = (each) => {
    const names = pathOf(each).map(({ name }) => name)
    if (names[0] === entry) return { file: batch[0], names: [] }
    return batch.length === 1 ? { file: batch[0], names } : { file: names[0], names: names.slice(1) }
  }
  const suites = new Map(tests.filter(({ nesting }) => nesting === 0).map((each) => [each.name, each]))
  const isComplete = (file) =>
    batch.length === 1 ? ended.has(entry) : suites.has(file) && causeOf(suites.get(file)) !== 'cancelledByParent'
  const last = lines.findLast(({ of }) => of?.join() === batch.join())?.at
  const incomplete = batch.filter((file) => !isComplete(file))
  const hasTests = new Set(tests.map(placeOf).flatMap(({ file, names }) => (names.length > 0 ? [file] : [])))

  const isCaused = (each) => each !== undefined && (hasFailed(each) || isCaused(parentOf(each)))
  /** Whether it failed by itself. A cancelled test is counted once, with the suite that could not run it if there is one. */
  const hasFailed = (each) => {
    const cause = causeOf(each)
    if (cause === undefined || cause === 'subtestsFailed') return false
    return cause !== 'cancelledByParent' || !isCaused(parentOf(each))
  }
  const outcomes = tests.flatMap((each) => {
    const { file, names } = placeOf(each)
    if (incomplete.includes(file) && file !== last) return []
    const about = { file, name: names.join(' › ') }
    if (isMarked(each.todo)) return { ...about, outcome: 'todo' }
    if (isMarked(each.skip)) return { ...about, outcome: 'skipped', ...(each.skip !== true && { reason: each.skip }) }
    if (hasFailed(each)) return { ...about, outcome: 'failed' }
    return names.length > 0 && each.details.type !== 'suite' && each.details.passed
      ? { ...about, outcome: 'passed' }
      : []
  })
  const isFailed = (file) =>
    outcomes.some((each) => each.file === file && each.name === '' && each.outcome === 'failed')
  const endedEarly = batch
    .filter((file) => !isFailed(file) && (incomplete.includes(file) ? file === last : !hasTests.has(file)))
    .map((file) => ({
      file,
      ending: incomplete.includes(file) ? (endings.get(entry) ?? 'for an unknown reason') : 'it has none',
    }))
  return { outcomes, endedEarly, notRun: incomplete.filter((file) => file !== last) }
}

/** Why a test failed, in the words of node:test; undefined if it passed. */
function causeOf({ details }) {
  return details.passed ? undefined : (details.error?.failureType ?? 'unknown')
}

/** How a process ended, by the error that node:test reports for it, if any. */
function endingOf(error) {
  return error?.signal ? `signal ${error.signal}` : `exit code ${error?.exitCode ?? 0}`
}

/** node:test marks a test with `true` or with the reason, which may be empty. */
function isMarked(mark) {
  return mark !== undefined && mark !== false
}
