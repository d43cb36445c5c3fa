// What the results of a run say. Pure functions.
import { criteriaIn } from './criteria.js'
import { areaOf, areas } from './files.js'

/** More failed tests than these are not repeated: a run with that much chance in it is red. */
const mostUnsteady = 2

/** @typedef {import('./run.js').Outcome} Outcome */
/** @typedef {import('./run.js').Results} Results */

/** @param {Pick<Outcome, 'file' | 'name'>} outcome */
const titleOf = ({ file, name }) => (name === '' ? file : `${file}: ${name}`)

/**
 * @param {Outcome[]} outcomes
 * @param {Outcome['outcome']} wanted
 */
const titlesWith = (outcomes, wanted) => outcomes.filter(({ outcome }) => outcome === wanted).map(titleOf)

/**
 * The tests that failed, by their titles: also a skipped one that does not say what is missing, and one marked as todo.
 * @param {Results} results
 * @returns {string[]}
 */
export function failuresOf({ outcomes, endedEarly, success }) {
  const silent = outcomes.filter(({ outcome, reason }) => outcome === 'skipped' && (reason ?? '') === '').map(titleOf)
  const found = [
    ...titlesWith(outcomes, 'failed'),
    ...titlesWith(outcomes, 'todo').map((title) => `${title} (marked as todo)`),
    ...silent.map((title) => `${title} (skipped without saying what is missing)`),
    ...endedEarly.map(({ file, ending }) => `${file} (ended before its last test: ${ending})`),
  ]
  return found.length === 0 && !success ? ['the test runner itself'] : found
}

/** The files to run again, if what failed may be chance; none if nothing failed or too much did. */
export function filesToRepeat(results) {
  const failed = failuresOf(results).length
  if (failed === 0 || failed > mostUnsteady) return []
  const files = results.outcomes.filter(({ outcome }) => outcome === 'failed').map(({ file }) => file)
  return [...new Set([...files, ...results.endedEarly.map(({ file }) => file)])]
}

/**
 * The verdict over a run and, if there was one, the repetition of its failed files. A test that failed in one of the two and
 * passed in the other is unsteady, and so is a file that ended before its last test in one of them; up to two of them do not
 * make the run red.
 * @param {Results} first
 * @param {Results} [second]
 */
export function verdictOf(first, second) {
  const [failures, again] = [failuresOf(first), second === undefined ? [] : failuresOf(second)]
  const isRepaired = (title) =>
    second !== undefined && !again.map(subjectOf).includes(subjectOf(title)) && hasPassed(second, subjectOf(title))
  const unsteady = [...failures.filter(isRepaired), ...again.filter((title) => hasPassed(first, subjectOf(title)))]
  const failed = [
    ...failures.filter((title) => !isRepaired(title)),
    ...(unsteady.length > mostUnsteady ? unsteady : []),
  ]
  const passed = titlesWith(first.outcomes, 'passed')
  const repeated = second === undefined ? [] : titlesWith(second.outcomes, 'passed')
  return {
    passed: passed.length + repeated.filter((title) => !passed.includes(title)).length,
    failed,
    unsteady,
    skipped: first.outcomes
      .filter(({ outcome, reason }) => outcome === 'skipped' && reason !== undefined)
      .map((each) => `${titleOf(each)} (${each.reason})`),
  }
}

/**
 * The test or file that a failure is about.
 * @param {string} title
 */
const subjectOf = (title) => title.replace(/ \(ended before its last test: .*\)$/, '')

/** Whether a test of this title passed, or one of the suite or the file of this title. */
function hasPassed({ outcomes }, title) {
  const of = titlesWith(outcomes, 'passed')
  return of.some((each) => each === title || each.startsWith(`${title} › `) || each.startsWith(`${title}: `))
}

/**
 * The criteria of docs/criteria.md that no test of the run has proven, and that the page does not list as not tested. One
 * that only skipped tests name is not among them: the verdict lists those tests.
 * @param {string} page
 * @param {Outcome[]} outcomes
 */
export function unproven(page, outcomes) {
  const [listed, untested = ''] = page.split('\n## Not tested\n')
  const known = [...listed.matchAll(/^- \*\*([AB]\d+)\.\*\* \S/gm)].map(([, id]) => id)
  const excused = [...untested.matchAll(/^\| ([AB]\d+) +\| \S/gm)].map(([, id]) => id)
  const ran = criteriaIn(outcomes.filter(({ outcome }) => outcome !== 'todo').map(({ name }) => name))
  return known.filter((id) => !ran.includes(id) && !excused.includes(id))
}

/**
 * The processor time of each area, with its share of the whole and its budget, as lines of a table.
 * @param {{ file: string, processor: number }[]} costs
 * @param {{ statics: number, total: number, isLong?: boolean }} seconds of processor time: the static checks, and everything that the tests
 *   started. The long form has no budgets.
 */
export function shares(costs, { statics, total, isLong = false }) {
  const sums = areas.map(({ name, budget }, index) => ({
    name,
    budget,
    seconds: costs.filter(({ file }) => areaOf(file) === index).reduce((sum, { processor }) => sum + processor, 0),
  }))
  const tests = sums.reduce((sum, { seconds }) => sum + seconds, 0)
  const others = { static: statics, services: Math.max(0, total - tests) }
  const rows = sums
    .map((sum) => ({ ...sum, seconds: sum.seconds + (others[sum.name] ?? 0) }))
    .filter(({ seconds }) => seconds > 0)
  const whole = rows.reduce((sum, { seconds }) => sum + seconds, 0)
  return rows.map(({ name, budget, seconds }) => {
    const share = `${((100 * seconds) / whole).toFixed(0)} %`
    const limit = budget === 0 || isLong ? '' : `  of ${budget} s${seconds > budget ? ', over its budget' : ''}`
    return `${name.padEnd(20)}${seconds.toFixed(0).padStart(6)} s  ${share.padStart(5)}${limit}`
  })
}
