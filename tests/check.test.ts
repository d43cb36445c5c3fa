import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
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
  'knip.json': JSON.stringify({ entry: ['src/main.ts', 'src/*.test.ts'], project: ['src/*.ts'] }),
  'tests/support/global-setup.ts': 'export const nothing = 0\n',
}

const good = {
  'src/main.ts': `export const main = 'here'\n`,
  'src/main.test.ts': `const { test } = await import('node:test')\ntest('one', () => {})\ntest('two', () => {})\n`,
}

/** The verdict on a small project that has the checks of this one. */
async function check(files: Record<string, string>, ...args: string[]) {
  const root = makeProject({ ...configuration, ...files }, [
    'scripts/check.js',
    'scripts/runtime.js',
    'scripts/test-counts.js',
  ])
  roots.push(root)
  symlinkSync(path.join(import.meta.dirname, '../node_modules'), path.join(root, 'node_modules'))
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
  test('pass what is right, and say how much that was', async () => {
    const { verdict, status, stdout } = await check(good)
    assert.equal(verdict, '7 passed, 0 failed', stdout)
    assert.equal(status, 0)
    for (const step of ['format', 'lint', 'types', 'types of the pages', 'unused code', 'tests']) {
      assert.match(stdout, new RegExp(`^✔ ${step} \\(\\d+\\.\\d s\\)$`, 'm'))
    }
  })

  test('go on after a failure, find each of them, and show what was said', async () => {
    const { verdict, status, stdout } = await check({
      ...good,
      'src/faulty.ts': `export const unused   = 1\nexport const wrong: string = 1 == 2\n`,
      'web/faulty.tsx': `export const count: number = 'none'\n`,
      'src/faulty.test.ts': `import './faulty.ts'\nconst { test } = await import('node:test')\ntest('red', () => { throw new Error('seen red') })\n`,
    })
    assert.equal(verdict, '2 passed, 6 failed', stdout)
    assert.equal(status, 1)
    assert.match(stdout, /✖ format[^]*faulty\.ts/)
    assert.match(stdout, /✖ lint[^]*eqeqeq/)
    assert.match(stdout, /✖ types \([^]*TS2322/)
    assert.match(stdout, /✖ types of the pages[^]*TS2322/)
    assert.match(stdout, /✖ unused code[^]*wrong/)
    assert.match(stdout, /seen red/)
  })

  test('fail when no test ran', async () => {
    const { verdict, status, stdout } = await check({ 'src/main.ts': good['src/main.ts'] })
    assert.equal(verdict, '5 passed, 1 failed', stdout)
    assert.equal(status, 1)
    assert.match(stdout, /✖ tests: none ran to the end/)
  })

  test('count a test file that cannot be loaded, and a set-up that fails', async () => {
    const unloadable = await check({ ...good, 'src/broken.test.ts': `throw new Error('not loaded')\n` })
    assert.equal(unloadable.verdict, '7 passed, 1 failed', unloadable.stdout)
    const setup = `export function globalSetup() {\n  throw new Error('no set-up')\n}\n`
    const unready = await check({ ...good, 'tests/support/global-setup.ts': setup })
    assert.equal(unready.status, 1, unready.stdout)
  })

  test('do not wait for ever for a test file that does not end, and name it', async () => {
    const leak = `const { test } = await import('node:test')\ntest('leaks', () => void setInterval(() => {}, 1000))\n`
    const { status, stdout } = await check({ ...good, 'src/leak.test.ts': leak }, 'fast', '10000')
    assert.equal(status, 1)
    assert.match(stdout, /Interrupted while running:[^]*leak\.test\.ts/)
  })

  test('take the tests across features only when asked for all', async () => {
    const files = {
      ...good,
      'tests/wide.test.ts': `const { test } = await import('node:test')\ntest('wide', () => {})\n`,
    }
    assert.equal((await check(files)).verdict, '7 passed, 0 failed')
    assert.equal((await check(files, 'all')).verdict, '8 passed, 0 failed')
    assert.equal((await check(files, 'some')).status, 2)
  })
})
