// Installs the packages of a folder that has a package.json and a lock file of its own, since Tollgate itself does not need them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs `npm ci` in the folder unless its packages are those of its lock file. Returns whether they are then. */
export function installOwnPackages(folder) {
  if (isInstalled(folder)) return true
  const args = ['ci', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund']
  // Standard output is reserved for the command that follows.
  return spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 2, 2] }).status === 0
}

function isInstalled(folder) {
  const installedLock = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(installedLock)) return false
  const [installed, { '': _, ...wanted }] = [installedLock, join(folder, 'package-lock.json')].map(packagesIn)
  return Object.entries(wanted).every(([path, { version }]) => installed[path]?.version === version)
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}
