// Runs test files on the pinned runtime, with live output, and writes what happened to a file. One argument, in JSON.
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

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
 * @property {string[]} endedEarly Files that ended before their last test, or had none.
 * @property {{ file: string, wall: number, processor: number }[]} costs In seconds.
 * @property {boolean} success The runner's own verdict.
 */

const { root, files, results, concurrency, timeout } = JSON.parse(process.argv[2] ?? '')
const costs = `${results}.costs`
process.env['TEST_COSTS'] = costs

// The types of Node do not know the set-up yet.
const options = {
  cwd: root,
  files: files.map((/** @type {string} */ file) => join(root, file)),
  concurrency,
  timeout,
  globalSetupPath: join(root, 'tests/support/global-setup.ts'),
  execArgv: ['--import', join(import.meta.dirname, 'cost.js')],
}
const events = run(options)

const byFile = new Map()
const finished = new Set()
let success = false
events.on('test:complete', (data) => {
  const seen = byFile.get(data.file) ?? []
  byFile.set(data.file, [...seen, data])
})
events.on('test:summary', (data) => {
  // The summary of the whole run names no file.
  if (data.file === undefined) ({ success } = data)
  else finished.add(data.file)
})
events.compose(spec).pipe(process.stdout)
await once(events, 'end')

const outcomes = [...byFile].flatMap(([file, tests]) => outcomesOf(file, tests))
const endedEarly = [...byFile.keys()]
  .filter((file) => !finished.has(file) && !outcomes.some(({ name, outcome }) => name === '' && outcome === 'failed'))
  .map(named)
writeFileSync(results, JSON.stringify({ outcomes, endedEarly, costs: readCosts(), success }))

/** The file as the runner reports it is absolute. */
function named(file) {
  return relative(root, file)
}

/** @returns {Outcome[]} */
function outcomesOf(file, tests) {
  const isFile = ({ name, nesting }) => nesting === 0 && name === file
  const byId = new Map(tests.filter((each) => !isFile(each)).map((each) => [each.testId, each]))
  const parentOf = ({ parentId }) => byId.get(parentId)
  const titleOf = (each) => (each === undefined ? [] : [...titleOf(parentOf(each)), each.name])
  const isCaused = (each) => each !== undefined && (hasFailed(each) || isCaused(parentOf(each)))
  /** Whether it failed by itself. A cancelled test is counted once, with the suite that could not run it if there is one. */
  const hasFailed = (each) => {
    const cause = causeOf(each)
    if (cause === undefined || cause === 'subtestsFailed') return false
    return cause !== 'cancelledByParent' || !isCaused(parentOf(each))
  }
  return tests.flatMap((each) => {
    const about = { file: named(file), name: isFile(each) ? '' : titleOf(each).join(' › ') }
    if (isMarked(each.todo)) return { ...about, outcome: 'todo' }
    if (isMarked(each.skip)) return { ...about, outcome: 'skipped', ...(each.skip !== true && { reason: each.skip }) }
    if (hasFailed(each)) return { ...about, outcome: 'failed' }
    const isTest = each.details.type !== 'suite' && !isFile(each)
    return isTest && each.details.passed ? { ...about, outcome: 'passed' } : []
  })
}

/** Why a test failed, in the words of node:test; undefined if it passed. */
function causeOf({ details }) {
  return details.passed ? undefined : (details.error?.failureType ?? 'unknown')
}

/** node:test marks a test with `true` or with the reason, which may be empty. */
function isMarked(mark) {
  return mark !== undefined && mark !== false
}

function readCosts() {
  if (!existsSync(costs)) return []
  const lines = readFileSync(costs, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line)).map((cost) => ({ ...cost, file: named(cost.file) }))
}
