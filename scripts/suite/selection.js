// Which test files can see a change: through imports, through the routes and SQL functions of what changed, or by its path.
import { dirname, posix } from 'node:path'

/** Where everything is put together. Imports are not followed past these, or each HTTP test would see each file. */
const roots = new Set(['src/main.ts', 'src/service.ts', 'src/app.ts'])

/** Documents, structure and criteria: cheap, and most changes can break them. */
export const always = ['tests/architecture.test.ts', 'tests/criteria.test.ts', 'tests/docs.test.ts']

/**
 * The test files that can see the changed files, nearest first.
 * @param {string[]} changed
 * @param {Map<string, string>} sources The text of each source and test file and of each SQL function, by its path.
 * @param {string[]} tests
 */
export function choose(changed, sources, tests) {
  const seeds = new Set([...changed, ...changed.flatMap((file) => callersOfSql(file, sources))])
  const importers = importersOf(sources)
  const distances = new Map()
  let [front, distance] = [[...seeds], 0]
  while (front.length > 0) {
    for (const file of front) distances.set(file, distance)
    const next = front.filter((file) => !roots.has(file)).flatMap((file) => importers.get(file) ?? [])
    front = [...new Set(next)].filter((file) => !distances.has(file))
    distance++
  }
  const patterns = [...seeds].flatMap((file) => routePatterns(file, sources))
  const seen = (test) => {
    if (always.includes(test)) return 0
    const text = sources.get(test) ?? ''
    const near = [
      distances.get(test),
      // Two tests that send to the changed routes differ in how many of them they send to.
      ...(patterns.some((each) => each.test(text)) ? [3 + 1 / patterns.filter((each) => each.test(text)).length] : []),
      ...(changed.some((file) => (file.endsWith('.sql') || !sources.has(file)) && text.includes(posix.basename(file)))
        ? [2]
        : []),
    ].filter((each) => each !== undefined)
    return near.length > 0 ? Math.min(...near) : undefined
  }
  return tests
    .map((test) => ({ test, near: seen(test) }))
    .filter(({ near }) => near !== undefined)
    .toSorted((one, other) => one.near - other.near)
    .map(({ test }) => test)
}

/** Who imports each file, or names it relative to itself. */
function importersOf(sources) {
  const importers = new Map()
  for (const [file, text] of sources) {
    for (const [, name] of text.matchAll(/(?:\bfrom |\bimport |\bimport\(|new URL\()'(\.[^']+)'/g)) {
      const imported = posix.join(dirname(file), name)
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/**
 * The source files that call the functions of an SQL file, themselves or through other functions. What no file calls is called by a trigger:
 * then those with the SQL of its feature.
 */
function callersOfSql(file, sources, seen = new Set()) {
  if (!file.endsWith('.sql') || seen.has(file)) return []
  seen.add(file)
  const text = sources.get(file) ?? ''
  const names = [...text.matchAll(/create (?:or replace )?function (\w+)/gi)].map(([, name]) => name)
  if (names.length === 0) return []
  const call = new RegExp(`\\b(?:${names.join('|')})\\(`)
  const callers = [...sources].filter(
    ([path, source]) => path !== file && /^(?:src|migrations)\//.test(path) && call.test(source),
  )
  if (callers.length === 0) {
    const feature = posix.basename(dirname(file))
    return [...sources.keys()].filter((path) => path.includes(`/${feature}/`) && path.endsWith('store.ts'))
  }
  return callers.flatMap(([path]) => (path.startsWith('src/') ? [path] : callersOfSql(path, sources, seen)))
}

/** Matches the texts of tests that send to the routes of the changed file's folder. */
function routePatterns(file, sources) {
  if (!file.startsWith('src/')) return []
  const folder = dirname(file)
  const routes = [...sources]
    .filter(([path]) => dirname(path) === folder && path.endsWith('routes.ts'))
    .flatMap(([, text]) => [...text.matchAll(/\bserver\.\w+(?:<[^(]*>)?\(\s*'(\/[^']*)'/g)].map(([, route]) => route))
  return [...new Set(routes)].map((route) => {
    const parts = route
      .split('/')
      .map((part) => (/^[:*]/.test(part) ? String.raw`[^/'"\s]+` : part.replaceAll('.', '[.]')))
    return new RegExp(`${parts.join('/')}(?=['"\`?#])`)
  })
}
