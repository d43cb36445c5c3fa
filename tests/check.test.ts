import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { areas, testFiles } from '../scripts/suite/files.js'
import { criteriaIn } from '../scripts/suite/criteria.js'
import { choose } from '../scripts/suite/selection.js'
import { unproven, verdictOf } from '../scripts/suite/verdict.js'
import { detail } from './support/detail.ts'
import { makeProject, runProgram } from './support/project.ts'

const repository = path.join(import.meta.dirname, '..')

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

const tools = ['oxfmt', 'oxlint', 'tsc', 'knip'] as const

/** Stands in for a tool: fails if the project has a file `faulty-…` of its name, and shows its text. */
const stub = (name: string) => `const { existsSync, readFileSync } = require('node:fs')
if (existsSync('faulty-${name}')) {
  console.log(readFileSync('faulty-${name}', 'utf8'))
  process.exit(1)
}
`

const configuration = {
  'package.json': JSON.stringify({ name: 'small', type: 'module' }),
  'tests/support/global-setup.ts': 'export const nothing = 0\n',
  ...Object.fromEntries(tools.map((name) => [`node_modules/.bin/${name}`, stub(name)])),
}

const one = `import { test } from 'node:test'\ntest('one', () => {})\ntest('two', () => {})\n`
const good = { 'src/main.test.ts': one }

const scripts = ['scripts/check.js', 'scripts/runtime.js', 'scripts/started-processes.js', 'scripts/suite']

/** A small project with the checks of this one, on the same runtime. */
function project(files: Record<string, string>): string {
  const root = makeProject({ ...configuration, ...files }, scripts)
  roots.push(root)
  const runtime = path.dirname(path.dirname(process.execPath))
  symlinkSync(runtime, path.join(root, 'node_modules', path.basename(runtime)))
  return root
}

const runIn = (root: string, ...args: string[]) =>
  runProgram(process.execPath, [path.join(root, 'scripts/check.js'), ...(args.length > 0 ? args : ['fast'])], {
    PATH: process.env['PATH'],
  })

/** The verdict of the checks on a small project. */
async function check(files: Record<string, string>, ...args: string[]) {
  const outcome = await runIn(project(files), ...args)
  return { ...outcome, verdict: outcome.stdout.trimEnd().split('\n').at(-1) }
}

/** The same without the static checks: of its test files only. */
const checkTests = (files: Record<string, string>, ...options: string[]) =>
  check(files, 'fast', ...options, ...Object.keys(files).filter((file) => file.endsWith('.test.ts')))

describe('the checks', () => {
  test('pass a correct project, and count what passed', async () => {
    const { verdict, status, stdout } = await check(good)
    assert.equal(verdict, '9 passed, 0 failed, 0 skipped', stdout)
    assert.equal(status, 0)
    const steps = ['format', 'lint', 'types', 'types of the pages', 'types of scripts and examples', 'unused code']
    for (const step of [...steps, 'code that only tests use', 'tests']) {
      assert.match(stdout, new RegExp(`^✔ ${step} \\(\\d+\\.\\d s\\)$`, 'm'))
    }
    assert.match(stdout, /^Processor time:\nstatic [^]*^unit +\d+ s +\d+ %/m)
  })

  test('continue after a failure, report every failure, and show its output', async () => {
    const faults = Object.fromEntries(tools.map((name) => [`faulty-${name}`, `seen by ${name}`]))
    const red = `import { test } from 'node:test'\ntest('red', () => { throw new Error('seen red') })\n`
    const { verdict, status, stdout } = await check({ ...good, ...faults, 'src/faulty.test.ts': red })
    assert.equal(verdict, '2 passed, 8 failed, 0 skipped', stdout)
    assert.equal(status, 1)
    for (const name of tools) assert.match(stdout, new RegExp(`✖ [^]*seen by ${name}`))
    assert.match(stdout, /seen red/)
    assert.match(stdout, /1 failed:\n {2}src\/faulty\.test\.ts: red\n/)
  })

  detail('use tools that find what they are for', async () => {
    const root = makeProject(
      {
        'package.json': JSON.stringify({ name: 'small', type: 'module' }),
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            strict: true,
            noEmit: true,
            module: 'nodenext',
            allowImportingTsExtensions: true,
            types: [],
          },
          include: ['src'],
        }),
        'web/tsconfig.json': JSON.stringify({ compilerOptions: { strict: true, noEmit: true, jsx: 'react-jsx' } }),
        'web/faulty.tsx': `export const count: number = 'none'\n`,
        '.oxlintrc.json': JSON.stringify({ rules: { eqeqeq: 'error' }, ignorePatterns: ['node_modules', 'scripts'] }),
        '.oxfmtrc.json': JSON.stringify({ semi: false, singleQuote: true, ignorePatterns: ['**/*.json', 'scripts'] }),
        'knip.json': JSON.stringify({ entry: ['src/main.ts!', 'src/*.test.ts'], project: ['src/*.ts!'] }),
        'tsconfig.scripts.json': JSON.stringify({ extends: './tsconfig.json', include: ['examples'] }),
        'examples/faulty.ts': `export const count: number = 'none'\n`,
        'tests/support/global-setup.ts': 'export const nothing = 0\n',
        'src/main.ts': `import { used } from './part.ts'\n\nexport const main   = used == 1\n`,
        'src/part.ts': `export const used = 1\nexport const tested: string = 2\n`,
        'src/unused.ts': `export const unused = 1\n`,
        'src/main.test.ts': `import { tested } from './part.ts'\n\nthrow new Error(tested)\n`,
      },
      scripts,
    )
    roots.push(root)
    symlinkSync(path.join(repository, 'node_modules'), path.join(root, 'node_modules'))
    const { stdout } = await runIn(root)
    assert.match(stdout, /✖ format[^]*main\.ts/)
    assert.match(stdout, /✖ lint[^]*eqeqeq/)
    assert.match(stdout, /✖ types \([^]*TS2322/)
    assert.match(stdout, /✖ types of the pages[^]*TS2322/)
    assert.match(stdout, /✖ types of scripts and examples[^]*TS2322/)
    assert.match(stdout, /✖ unused code[^]*src\/unused\.ts/)
    assert.match(stdout, /✖ code that only tests use[^]*tested/)
    assert.doesNotMatch(stdout, /\bused +src/)
  })

  test('fail when the set-up fails', async () => {
    const setup = `export function globalSetup() {\n  throw new Error('no set-up')\n}\n`
    const unready = await checkTests({ ...good, 'tests/support/global-setup.ts': setup })
    assert.deepEqual([unready.status, unready.verdict], [1, '0 passed, 1 failed, 0 skipped'], unready.stdout)
  })

  detail('do not wait forever for a test file that does not end: they name it and run the others', async () => {
    const leak = `await new Promise(() => setInterval(() => {}, 1000))\n`
    const setup = `const { spawn } = await import('node:child_process')
const server = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120_000)'])
export const globalSetup = () => server.unref()
export const globalTeardown = () => void server.kill()\n`
    const files = { ...good, 'src/a-leak.test.ts': leak, 'tests/support/global-setup.ts': setup }
    const { status, stdout, verdict } = await checkTests(files, '--silence=10000')
    assert.equal(status, 1)
    assert.match(stdout, /: ending \S*a-leak\.test\.ts\n/)
    assert.doesNotMatch(stdout, /: ending (?!\S*a-leak)/)
    assert.match(stdout, /✔ two/)
    assert.equal(verdict, '2 passed, 1 failed, 0 skipped', stdout)
  })

  test('run the tests across features only for `all`, and the long forms, with random draws, only for `endure`', async () => {
    const long = 'tests/long.endure.test.ts'
    const files = {
      ...good,
      'tests/wide.test.ts': '',
      'models/far.test.mjs': '',
      [long]: `const { test } = await import('node:test')
test('long', () => { if (process.env.ENDURE !== '1' || process.env.SEED !== '7') throw new Error('no draws') })\n`,
    }
    const root = project(files)
    const all = ['tests/wide.test.ts', 'models/far.test.mjs', 'src/main.test.ts']
    assert.deepEqual(testFiles(root, 'fast'), ['src/main.test.ts'])
    assert.deepEqual(testFiles(root, 'all'), all)
    assert.deepEqual(testFiles(root, 'endure').toSorted(), [...all, long].toSorted())
    const endured = await runProgram(process.execPath, [path.join(root, 'scripts/check.js'), 'endure', long], {
      SEED: '7',
    })
    assert.match(endured.stdout, /^Seed 7$[^]*\n1 passed, 0 failed, 0 skipped\n$/m)
    assert.equal((await runIn(root, 'some')).status, 2)
  })

  test('repeat a failed test: one that passes then is unsteady, and does not make the run red', async () => {
    const first = `import { existsSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
describe('by chance', () => {
  test('red once', () => { if (!existsSync('ran')) { writeFileSync('ran', ''); throw new Error('by chance') } })
})\n`
    const { verdict, status, stdout } = await checkTests({ ...good, 'src/chance.test.ts': first })
    assert.deepEqual([status, verdict], [0, '3 passed, 0 failed, 0 skipped'], stdout)
    assert.match(stdout, /1 unsteady[^\n]*:\n {2}src\/chance\.test\.ts: by chance › red once\n/)
  })

  test('run files together, and undo what one mocked before the next', async () => {
    const mocks = `import { before, mock, test } from 'node:test'
before(() => void mock.method(Date, 'now', () => 1))
test('mocks', () => { globalThis.first = Date.now() })\n`
    const looks = `import { test } from 'node:test'
await new Promise((resolve) => setTimeout(resolve, 1))
test('looks', () => { if (globalThis.first !== 1 || Date.now() === 1) throw new Error('not undone') })\n`
    const { verdict, stdout } = await checkTests({ 'src/a.test.ts': mocks, 'src/b.test.ts': looks })
    assert.equal(verdict, '2 passed, 0 failed, 0 skipped', stdout)
    assert.match(stdout, /▶ src\/b\.test\.ts\n {2}✔ looks/)
  })

  test('list skipped tests with what is missing; fail on one that does not say it, on a todo, and on files that have no tests, end early or cannot be loaded', async () => {
    const marks = `import { test } from 'node:test'
test('by a moon', { skip: 'no moon' }, () => {})
test('silent', { skip: true }, () => {})
test('later', { todo: true }, () => {})\n`
    const { verdict, status, stdout } = await checkTests({
      ...good,
      'src/marks.test.ts': marks,
      'src/empty.test.ts': `export const nothing = 0\n`,
      'src/broken.test.ts': `throw new Error('not loaded')\n`,
      'tests/early.test.ts': `import { test } from 'node:test'\ntest('first', () => {})\ntest('second', () => process.exit(0))\n`,
    })
    assert.deepEqual([status, verdict], [1, '2 passed, 5 failed, 1 skipped'], stdout)
    assert.match(stdout, /1 skipped:\n {2}src\/marks\.test\.ts: by a moon \(no moon\)\n/)
    assert.match(stdout, /src\/marks\.test\.ts: later \(marked as todo\)\n/)
    assert.match(stdout, /src\/marks\.test\.ts: silent \(skipped without saying what is missing\)\n/)
    assert.match(stdout, / {2}src\/empty\.test\.ts \(ended before its last test: it has none\)\n/)
    assert.match(stdout, / {2}tests\/early\.test\.ts \(ended before its last test: exit code 0\)\n/)
  })

  test('fail in `all` on a criterion that no test of the run has proven', async () => {
    const page = `# Criteria\n\n- **A1.** One.\n- **A2.** Two.\n- **A3.** Three.\n\n## Not tested\n\n| A3 | Later. |\n`
    const proof = `const { test } = await import('node:test')\ntest('A1: holds', () => {})\n// test('A2: is not run')\n`
    const { verdict, stdout } = await check({ 'docs/criteria.md': page, 'src/proof.test.ts': proof }, 'all')
    assert.equal(verdict, '8 passed, 1 failed, 0 skipped', stdout)
    assert.match(stdout, /1 criteria that no test of this run has proven:\n {2}A2\n/)
  })
})

const outcome = (name: string, what: 'passed' | 'failed' | 'skipped') => ({
  file: 'a.test.ts',
  name,
  outcome: what,
  ...(what === 'skipped' && { reason: 'no moon' }),
})
const results = (...outcomes: ReturnType<typeof outcome>[]) => ({
  outcomes,
  endedEarly: [] as { file: string; ending: string }[],
  notRun: [],
  costs: [],
  success: false,
})

describe('the verdict', () => {
  test('counts a test that fails twice as failed, and more than two unsteady ones too', () => {
    const red = results(outcome('x', 'failed'), outcome('y', 'passed'))
    const { passed, failed, unsteady } = verdictOf(red, red)
    assert.deepEqual({ passed, failed, unsteady }, { passed: 1, failed: ['a.test.ts: x'], unsteady: [] })
    const other = results(outcome('x', 'passed'), outcome('y', 'failed'), outcome('z', 'failed'))
    const three = verdictOf(results(outcome('x', 'failed'), outcome('y', 'passed'), outcome('z', 'passed')), other)
    assert.equal(three.unsteady.length, 3)
    assert.equal(three.failed.length, 3)
  })

  test('is red if the repetition brought no result', () => {
    const red = results(outcome('x', 'failed'))
    assert.deepEqual(verdictOf(red, results()).failed, ['a.test.ts: x'])
    assert.deepEqual(verdictOf(red, undefined).failed, ['a.test.ts: x'])
  })

  test('a suite whose hook failed, or a file that did not end, is unsteady if its tests pass when repeated', () => {
    const again = { ...results(outcome('suite › x', 'passed')), success: true }
    assert.deepEqual(verdictOf(results(outcome('suite', 'failed')), again).failed, [])
    const ended = { ...results(outcome('w', 'passed')), endedEarly: [{ file: 'a.test.ts', ending: 'signal SIGSEGV' }] }
    const { passed, failed, unsteady } = verdictOf(ended, again)
    const [title] = unsteady
    assert.deepEqual([passed, failed, title], [2, [], 'a.test.ts (ended before its last test: signal SIGSEGV)'])
    assert.deepEqual(verdictOf(ended, { ...ended, ...again, endedEarly: ended.endedEarly }).failed, [title])
    assert.deepEqual(verdictOf(results(), again).failed, ['the test runner itself'])
    assert.deepEqual(verdictOf(results(outcome('', 'failed')), again).failed, [])
  })

  test('knows the criteria in the names of tests, by themselves, in lists and in ranges', () => {
    assert.deepEqual(criteriaIn(['credit (A16, B1–B3) is kept', 'A20: cost', 'no BA21 or A4x']), [
      'A16',
      'B1',
      'B2',
      'B3',
      'A20',
    ])
    const page = '- **A1.** One.\n- **A2.** Two.\n\n## Not tested\n\n'
    assert.deepEqual(unproven(page, [outcome('A1', 'passed'), outcome('A2', 'skipped')]), [])
    assert.deepEqual(unproven(page, [outcome('A1', 'passed')]), ['A2'])
  })

  test('budgets are those of CONTRIBUTING.md', () => {
    const page = readFileSync(path.join(repository, 'CONTRIBUTING.md'), 'utf8')
    for (const { name, budget } of areas.filter((area) => area.budget > 0)) {
      assert.match(page, new RegExp(`^\\| ${name} +\\| +${budget} \\|`, 'm'))
    }
  })
})

describe('--changed', () => {
  const sources = new Map([
    ['src/a/rule.ts', ''],
    ['src/a/routes.ts', `import { rule } from './rule.ts'\nserver.get('/things/:id/parts', () => rule)`],
    ['src/a/rule.test.ts', `import { rule } from './rule.ts'`],
    ['src/b/user.ts', `import { rule } from '../a/rule.ts'`],
    ['src/b/user.test.ts', `import { user } from './user.ts'`],
    ['src/service.ts', `import '../src/a/routes.ts'`],
    ['tests/support/service.ts', `import '../../src/service.ts'`],
    ['tests/http/parts.test.ts', 'import "x"\nask(`/things/${id}/parts`)'],
    ['tests/http/others.test.ts', `import '../support/service.ts'\nask('/others')`],
    ['migrations/functions/b/inner.sql', 'create function inner_sum() returns void'],
    ['migrations/functions/b/outer.sql', 'create or replace function outer_sum() returns void; select inner_sum()'],
    ['migrations/functions/c/kept.sql', 'create function keep_row() returns trigger'],
    ['src/b/sum.test.ts', 'select outer_sum()'],
    ['src/c/row-store.ts', ''],
    ['src/c/row.test.ts', `import { row } from './row-store.ts'`],
  ])
  const tests = [...sources.keys()].filter((file) => file.endsWith('.test.ts'))

  test('selects what imports a changed file and what sends to its routes, nearest first, and not everything', () => {
    assert.deepEqual(choose(['src/a/rule.ts'], sources, tests), [
      'src/a/rule.test.ts',
      'src/b/user.test.ts',
      'tests/http/parts.test.ts',
    ])
    assert.deepEqual(choose(['src/service.ts'], sources, tests), [])
    assert.deepEqual(choose(['tests/http/others.test.ts'], sources, tests), ['tests/http/others.test.ts'])
  })

  test('selects what calls a changed SQL function, also through others, and for a trigger that of its feature', () => {
    assert.deepEqual(choose(['migrations/functions/b/inner.sql'], sources, tests), ['src/b/sum.test.ts'])
    assert.deepEqual(choose(['migrations/functions/c/kept.sql'], sources, tests), ['src/c/row.test.ts'])
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
    const { verdict, stdout } = await checkTests({ ...good, 'src/leaves.test.ts': leaves })
    assert.equal(verdict, '3 passed, 1 failed, 0 skipped', stdout)
    assert.match(stdout, /1 left running:\n {2}\d+: \S*node -e setTimeout/)
    assert.equal(isRunning(sleeperOf(roots.at(-1))), false)
  })

  detail('end with the checks, even in a separate session', async () => {
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
