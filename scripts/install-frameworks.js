// Installs the frameworks whose examples the tests run, unless they are installed. If this fails, all other tests still run.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installOwnPackages } from './own-packages.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

if (!installOwnPackages(join(root, 'tests/frameworks'))) {
  process.stderr.write(
    'npm could not install the packages of tests/frameworks, so the tests in this folder are skipped.\n',
  )
}
