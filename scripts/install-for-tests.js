// Installs what the tests run besides Tollgate, in the folders that are named, unless it is installed. If this fails, all other tests still run.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installOwnPackages } from './own-packages.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

for (const folder of process.argv.slice(2)) {
  if (!installOwnPackages(join(root, folder))) {
    process.stderr.write(`npm could not install the packages of ${folder}, so the tests in this folder are skipped.\n`)
  }
}
