// Which test files there are, the form of the suite each belongs to, and its area.
import { readFileSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The files that `npm run check` runs: the unit tests, and what most changes can break. */
const fast = [
  /^(src|web|scripts)\//,
  /^tests\/(architecture|criteria|docs)\.test\.ts$/,
  /^tests\/http\/access-matrix\.test\.ts$/,
]

/** The long form of a test, only for `npm run endure`. */
const isLong = (file) => /\.endure\.test\.\w+$/.test(file)

/**
 * The areas of `npm test`: the static checks, then the tests in the order in which they run, so that the longest files do not start last. Each has a budget in
 * seconds of processor time on a quiet machine; CONTRIBUTING.md has the same figures. `together`: how many of its files run in one process.
 */
export const areas = [
  { name: 'static', budget: 95, has: () => false },
  { name: 'browser', budget: 160, together: 24, has: (file) => file.startsWith('tests/browser/') },
  { name: 'faults', budget: 100, together: 4, has: (file) => file.startsWith('tests/faults/') },
  { name: 'system', budget: 70, together: 4, has: (file) => /^tests\/[^/]+$/.test(file) },
  { name: 'HTTP', budget: 250, together: 8, has: (file) => file.startsWith('tests/http/') },
  { name: 'unit', budget: 220, together: 16, has: (file) => /^(src|web|models|bench|scripts)\//.test(file) },
  { name: 'services', budget: 350, has: () => false },
  { name: 'programs', budget: 0, has: () => true },
]

/** The area of a file, as an index in `areas`. */
export const areaOf = (file) => areas.findIndex(({ has }) => has(file))

/**
 * The test files of a form of the suite, relative to the root, in the order in which they run.
 * @param {string} root
 * @param {'fast' | 'all' | 'endure'} form
 */
export function testFiles(root, form) {
  const files = filesBelow(root, '').filter((file) => /\.test\.(ts|js|mjs)$/.test(file))
  if (form === 'endure') return inOrder(files)
  return inOrder(files.filter((file) => !isLong(file) && (form === 'all' || isFast(file))))
}

/** @param {string[]} files */
const inOrder = (files) =>
  files.toSorted((one, other) => areaOf(one) - areaOf(other) || (one < other ? -1 : Number(one > other)))

const isFast = (file) => fast.some((pattern) => pattern.test(file))

/** A test file that starts a service or opens a database at its top level, which would be open while the files before it run. */
const opens = /^const .*\bawait (?:open|start)(?:Firm|Drafting|VendorService|MailingPortal|OwnDatabase)\(/m

/**
 * The files in groups that each run in one process. The groups of a form are always the same, so a fault that depends on one repeats.
 * @param {string} root
 * @param {string[]} files
 * @returns {string[][]}
 */
export function batchesOf(root, files) {
  const isAlone = (file) => isLong(file) || opens.test(readFileSync(join(root, file), 'utf8'))
  const batches = files.filter(isAlone).map((file) => [file])
  for (const [index, { together = 1 }] of areas.entries()) {
    const social = files.filter((file) => areaOf(file) === index && !isAlone(file))
    for (let from = 0; from < social.length; from += together) batches.push(social.slice(from, from + together))
  }
  return batches.toSorted(([one = ''], [other = '']) => files.indexOf(one) - files.indexOf(other))
}

/** Folders of other people's files, of built pages and of databases. */
const foreign = new Set(['node_modules', 'dist', 'data'])

/**
 * The files of a project, relative to its root.
 * @param {string} root
 * @param {string} folder
 * @returns {string[]}
 */
export function filesBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.isFile()) return [path]
    const isOurs = entry.isDirectory() && !foreign.has(entry.name) && !entry.name.startsWith('.')
    return isOurs ? filesBelow(root, path) : []
  })
}
