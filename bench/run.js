// `npm run bench`: runs all benchmarks, or those named (`npm run bench -- http`). Runs on any Node and starts the benchmarks
// on the pinned one, which also runs the service.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runtimePath } from '../scripts/runtime.js'

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname)

if (!peersAreInstalled()) run('npm', ['ci', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'])
run(runtimePath(dirname(here)), [join(here, 'main.ts'), ...process.argv.slice(2)])

/** Whether bench/node_modules matches bench/package-lock.json. */
function peersAreInstalled() {
  const installedLock = join(here, 'node_modules/.package-lock.json')
  if (!existsSync(installedLock)) return false
  const [installed, { '': _, ...wanted }] = [installedLock, join(here, 'package-lock.json')].map(packagesIn)
  return Object.entries(wanted).every(([path, { version }]) => installed[path]?.version === version)
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/** Runs a command in this folder. Exits with its status if it fails. */
function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: here, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}
