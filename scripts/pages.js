// Builds the portal's pages from web/ into web/dist, unless they are up to date.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockHash, runtimePath } from './runtime.js'
import { sharedFiles } from './shared-files.js'

/** The portal, the program that renders its first picture, and the sign-in page, which works without the portal's scripts. */
const builds = [
  { source: 'web', output: '.' },
  { source: 'web/first', output: 'first' },
  { source: 'web/sign-in', output: 'sign-in' },
]

/** Whether web/dist was built from the current sources and dependencies, or there are no sources. */
export function arePagesBuilt(root) {
  if (!existsSync(join(root, 'web/index.html'))) return true
  const stamp = join(root, 'web/dist/stamp')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root)
}

/** Builds the pages. Returns the error output, or undefined. The old build stays until the new one is complete. */
export function buildPages(root) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  if (!existsSync(vite)) return 'The tools to build them are not installed: run "npm ci" without --omit=dev.'
  const stamp = sourceHash(root)
  const present = join(root, 'web/dist')
  const fresh = join(root, `web/dist-${process.pid}`)
  const old = `${fresh}-old`
  const fault = builds
    .filter(({ source }) => existsSync(join(root, source)))
    .map(({ source, output }) => build(root, [vite, 'build', source, '--outDir', join(fresh, output), '--emptyOutDir']))
    .find((each) => each !== undefined)
  if (fault === undefined) {
    writeFileSync(join(fresh, 'stamp'), stamp)
    if (existsSync(present)) renameSync(present, old)
    renameSync(fresh, present)
  }
  rmSync(fresh, { recursive: true, force: true })
  rmSync(old, { recursive: true, force: true })
  return fault
}

function build(root, args) {
  const { status, stdout, stderr } = spawnSync(runtimePath(root), args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
  })
  return status === 0 ? undefined : `${stdout}${stderr}`.trim()
}

/** A hash of the pages' sources and of their dependencies. */
function sourceHash(root) {
  const web = join(root, 'web')
  const files = readdirSync(web, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^dist\b/.test(entry.parentPath.slice(web.length + 1)))
    .map((entry) => join(entry.parentPath, entry.name))
    .concat(sharedFiles.map((file) => join(root, file)))
    .toSorted()
  const hash = createHash('sha256').update(lockHash(root))
  for (const file of files) hash.update(`\0${file.slice(web.length)}\0`).update(readFileSync(file))
  return hash.digest('hex')
}
