// The test files that can see what changed in the work tree, as many as two minutes allow.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areaOf, areas, filesBelow, testFiles } from './files.js'
import { always, choose } from './selection.js'

/** The wall time in s that the chosen tests may take, beside two minutes for everything. */
const most = 80

/** What a test file takes in s until a run has measured it, by the name of its area. */
const guess = { unit: 2, HTTP: 6, system: 10, faults: 15, browser: 20, programs: 30 }

/**
 * The tests to run, nearest first, and those that would take too long.
 * @param {string} root
 * @param {string} ref A commit; empty for what is not committed or, without any, the last commit.
 * @param {{ file: string, wall: number }[]} times
 * @returns {{ tests: string[], left: string[], since: string }}
 */
export function changedTests(root, ref, times) {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const isDirty = git('status', '--porcelain').length > 0
  const since = ref === '' ? (isDirty ? 'HEAD' : 'HEAD~1') : ref
  const changed = [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')]
  const wallOf = new Map(times.map(({ file, wall }) => [file, wall]))
  const cost = (file) => wallOf.get(file) ?? guess[areas[areaOf(file)].name]
  const sources = new Map(
    ['src', 'web', 'tests', 'scripts', 'models', 'bench', 'migrations/functions']
      .flatMap((folder) => (existsSync(join(root, folder)) ? filesBelow(root, folder) : []))
      .filter((file) => /\.(ts|tsx|js|mjs|sql)$/.test(file))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  )
  const chosen = choose(changed, sources, testFiles(root, 'all'))
  const [tests, left] = [[], []]
  let seconds = 0
  for (const file of chosen) {
    const isFree = always.includes(file) || changed.includes(file)
    // Two files run at a time.
    if (isFree || seconds + cost(file) / 2 <= most) {
      tests.push(file)
      seconds += cost(file) / 2
    } else left.push(file)
  }
  return { tests, left, since }
}
