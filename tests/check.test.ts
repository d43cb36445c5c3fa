import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { makeProject, runProgram } from './support/project.ts'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

const configuration = {
  'package.json': JSON.stringify({ name: 'small', type: 'module' }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      types: ['node'],
      allowImportingTsExtensions: true,
    },
    include: ['src'],
  }),
  'web/tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, noEmit: true, jsx: 'react-jsx' } }),
  'web/page.tsx': 'export const title = <T extends string>(text: T) => text\n',
  '.oxlintrc.json': JSON.stringify({ rules: { eqeqeq: 'error' }, ignorePatterns: ['node_modules', 'scripts'] }),
  '.oxfmtrc.json': JSON.stringify({ semi: false, singleQuote: true, ignorePatterns: ['**/*.json', 'scripts'] }),
  'knip.json': JSON.stringify({ entry: ['src/main.ts!', 'src/*.test.ts'], project: ['src/*.ts!'] }),
  'tsconfig.scripts.json': JSON.stringify({ extends: './tsconfig.json', include: ['examples'] }),
  'examples/example.ts': 'export const example = 1\n',
  'tests/support/global-setup.ts': 'export const nothing = 0\n',
}

const good = {
  'src/main.ts': `export const main = 'here'\n`,
  'src/main.test.ts': `const { test } = await import('node:test')\ntest('one', () => {})\ntest('two', () => {})\n`,
}

/** A small project with the checks of this one. */
function project(files: Record<string, string>): string {
  const root = makeProject({ ...configuration, ...files }, [
    'scripts/check.js',
    'scripts/runtime.js',
    'scripts/started-processes.js',
    'scripts/test-totals.js',
  ])
  roots.push(root)
  symlinkSync(path.join(import.meta.dirname, '../node_modules'), path.join(root, 'node_modules'))
  return root
}

/** The verdict of the checks on a small project. */
async function check(files: Record<string, string>, ...args: string[]) {
  const root = project(files)
  const outcome = await runProgram(
    process.execPath,
    [path.join(root, 'scripts/check.js'), ...(args.length > 0 ? args : ['fast'])],
    {
      PATH: process.env['PATH'],
    },
  )
  return { ...outcome, verdict: outcome.stdout.trimEnd().split('\n').at(-1) }
}

describe('the checks', () => {
  test('pass a correct project, and count what passed', async () => {
    const { verdict, status, stdout } = await check(good)
    assert.equal(verdict, '9 passed, 0 failed', stdout)
    assert.equal(status, 0)
    for (const step of [
      'format',
      'lint',
      'types',
      'types of the pages',
      'types of scripts and examples',
      'unused code',
      'code that only tests use',
      'tests',
    ]) {
      assert.match(stdout, new RegExp(`^✔ ${step} \\(\\d+\\.\\d s\\)$`, 'm'))
    }
  })

  test('continue after a failure, report every failure, and show its output', async () => {
    const { verdict, status, stdout } = await check({
      ...good,
      'src/faulty.ts': `export const unused   = 1\nexport const wrong: string = 1 == 2\n`,
      'web/faulty.tsx': `export const count: number = 'none'\n`,
      'examples/faulty.ts': `export const count: number = 'none'\n`,
      'src/faulty.test.ts': `import './faulty.ts'\nconst { test } = await import('node:test')\ntest('red', () => { throw new Error('seen red') })\n`,
    })
    assert.equal(verdict, '2 passed, 8 failed', stdout)
    assert.equal(status, 1)
    assert.match(stdout, /✖ format[^]*faulty\.ts/)
    assert.match(stdout, /✖ lint[^]*eqeqeq/)
    assert.match(stdout, /✖ types \([^]*TS2322/)
    assert.match(stdout, /✖ types of the pages[^]*TS2322/)
    assert.match(stdout, /✖ types of scripts and examples[^]*TS2322/)
    assert.match(stdout, /✖ unused code[^]*wrong/)
    assert.match(stdout, /✖ code that only tests use[^]*src\/faulty\.ts/)
    assert.match(stdout, /seen red/)
  })

  test('find an export that only a test uses', async () => {
    const { stdout } = await check({
      'src/main.ts': `import { used } from './part.ts'\n\nexport const main = used\n`,
      'src/part.ts': `export const used = 1\nexport const tested = 2\n`,
      'src/main.test.ts': `import './main.ts'\nimport { tested } from './part.ts'\nconst { test } = await import('node:test')\ntest('one', () => tested)\n`,
    })
    assert.match(stdout, /✔ unused code/)
    assert.match(stdout, /✖ code that only tests use[^]*tested/)
    assert.doesNotMatch(stdout, /\bused +src/)
  })

  test('fail when no test ran', async () => {
    const { verdict, status, stdout } = await check({ 'src/main.ts': good['src/main.ts'] })
    assert.equal(verdict, '7 passed, 1 failed', stdout)
    assert.equal(status, 1)
    assert.match(stdout, /✖ tests: none ran to the end/)
  })

  test('count a test file that cannot be loaded, and a set-up that fails', async () => {
    const unloadable = await check({ ...good, 'src/broken.test.ts': `throw new Error('not loaded')\n` })
    assert.equal(unloadable.verdict, '9 passed, 1 failed', unloadable.stdout)
    const setup = `export function globalSetup() {\n  throw new Error('no set-up')\n}\n`
    const unready = await check({ ...good, 'tests/support/global-setup.ts': setup })
    assert.equal(unready.status, 1, unready.stdout)
  })

  test('do not wait forever for a test file that does not end: they name it and run the others', async () => {
    const leak = `const { test } = await import('node:test')\ntest('leaks', () => void setInterval(() => {}, 1000))\n`
    const setup = `const { spawn } = await import('node:child_process')
const server = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120_000)'])
export const globalSetup = () => server.unref()
export const globalTeardown = () => void server.kill()\n`
    const files = { ...good, 'src/a-leak.test.ts': leak, 'tests/support/global-setup.ts': setup }
    const { status, stdout, verdict } = await check(files, 'fast', '10000')
    assert.equal(status, 1)
    assert.match(stdout, /: ending \S*a-leak\.test\.ts\n/)
    assert.doesNotMatch(stdout, /: ending (?!\S*a-leak)/)
    assert.match(stdout, /✔ two/)
    assert.equal(verdict, '10 passed, 1 failed', stdout)
  })

  test('run the tests across features, wherever they are, only for `all`', async () => {
    const files = {
      ...good,
      'tests/wide.test.ts': `const { test } = await import('node:test')\ntest('wide', () => {})\n`,
      'scripts/peers/far.test.mjs': `const { test } = await import('node:test')\ntest('far', () => {})\n`,
    }
    assert.equal((await check(files)).verdict, '9 passed, 0 failed')
    assert.equal((await check(files, 'all')).verdict, '11 passed, 0 failed')
    assert.equal((await check(files, 'some')).status, 2)
  })

  test('list skipped tests with their reasons', async () => {
    const skips = `const { test } = await import('node:test')\ntest('by a moon', { skip: 'no moon' }, () => {})\n`
    const { verdict, stdout } = await check({ ...good, 'src/skips.test.ts': skips })
    assert.equal(verdict, '9 passed, 0 failed', stdout)
    assert.match(stdout, /1 skipped:\n {2}src\/skips\.test\.ts: by a moon \(no moon\)\n/)
  })

  test('fail on a todo', async () => {
    const later = `const { test } = await import('node:test')\ntest('later', { todo: true }, () => {})\n`
    const { verdict, status, stdout } = await check({ ...good, 'src/later.test.ts': later })
    assert.equal(verdict, '9 passed, 1 failed', stdout)
    assert.equal(status, 1)
    assert.match(stdout, /1 marked as todo[^\n]*:\n {2}src\/later\.test\.ts: later\n/)
  })

  test('fail on a file that ends before its last test, and on one without tests', async () => {
    const early = `const { test } = await import('node:test')\ntest('first', () => {})\ntest('second', () => process.exit(0))\n`
    const empty = `export const nothing = 0\n`
    const { verdict, stdout } = await check({ ...good, 'src/early.test.ts': early, 'src/empty.test.ts': empty })
    assert.equal(verdict, '9 passed, 2 failed', stdout)
    assert.match(stdout, /2 ended before its last test:\n {2}src\/early\.test\.ts\n {2}src\/empty\.test\.ts\n/)
  })
})

const sleeper = `const { spawn } = await import('node:child_process')
const { writeFileSync } = await import('node:fs')
const { test } = await import('node:test')
const script = 'setTimeout(() => {}, 120_000)'
const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore' })
child.unref()
writeFileSync('sleeper.pid', String(child.pid))
`

describe('processes that tests start', { skip: process.platform !== 'linux' && 'there is no /proc' }, () => {
  test('are killed, named and counted as failures if they are left behind', async () => {
    const leaves = `${sleeper}test('leaves a process', () => {})\n`
    const { verdict, stdout } = await check({ ...good, 'src/leaves.test.ts': leaves })
    assert.equal(verdict, '10 passed, 1 failed', stdout)
    assert.match(stdout, /1 left running:\n {2}\d+: \S*node -e setTimeout/)
    assert.equal(isRunning(sleeperOf(roots.at(-1))), false)
  })

  test('end with the checks, even in a separate session', async () => {
    const waits = `${sleeper}test('waits', () => new Promise((resolve) => setTimeout(resolve, 100_000)))\n`
    const root = project({ ...good, 'src/waits.test.ts': waits })
    const child = spawn(process.execPath, [path.join(root, 'scripts/check.js'), 'fast'], { stdio: 'ignore' })
    while (!existsSync(path.join(root, 'sleeper.pid')) || Number.isNaN(sleeperOf(root))) await nextTurn()
    const pid = sleeperOf(root)
    assert.equal(isRunning(pid), true)
    child.kill('SIGTERM')
    await once(child, 'exit')
    assert.equal(child.exitCode, 143)
    assert.equal(isRunning(pid), false)
  })
})

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 50))

function sleeperOf(root = ''): number {
  const text = readFileSync(path.join(root, 'sleeper.pid'), 'utf8')
  return text === '' ? NaN : Number(text)
}

/** A zombie does not count: a container may have no process to reap it. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'))
}
