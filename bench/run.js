// `npm run bench`: runs all benchmarks, or those named (`npm run bench -- http`). Runs on any Node and starts the benchmarks
// on the pinned one, which also runs the service.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { installOwnPackages } from '../scripts/own-packages.js'
import { runtimePath } from '../scripts/runtime.js'

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname)

if (!installOwnPackages(here)) process.exit(1)
const { status, error } = spawnSync(runtimePath(dirname(here)), [join(here, 'main.ts'), ...process.argv.slice(2)], {
  cwd: here,
  stdio: 'inherit',
})
if (error) throw error
process.exitCode = status ?? 1
