// Installs the packages in package-lock.json and builds the portal's pages, unless both are up to date. Runs on Node 20
// or newer, before anything else.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { arePagesBuilt, buildPages } from './pages.js'
import { compiledPath, flags, isInstalled, lockHash, notePath, runtimePath } from './runtime.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// The pages are built by development dependencies, which npm omits if NODE_ENV is "production".
const wanted = '--ignore-scripts --include=dev --loglevel=error --no-audit --no-fund'.split(' ')

// The libraries of the runtime that small installations and container images leave out.
const packagesWith = {
  'libatomic.so.1': 'run "apt-get install libatomic1" (Debian, Ubuntu) or "dnf install libatomic" (Fedora, Red Hat)',
  'libstdc++.so.6': 'run "apt-get install libstdc++6" (Debian, Ubuntu) or "dnf install libstdc++" (Fedora, Red Hat)',
}

const isSetUp = () => isInstalled(root) && arePagesBuilt(root)

// PostgreSQL's initdb passes its own path to a shell, and Vite reads a question mark in a path as a query.
const [unsupported] = /[?$`"\\]/.exec(root) ?? []
if (unsupported !== undefined) {
  fail(`Tollgate cannot run in a folder with ${unsupported} in its path: move or rename ${root}.`)
}
if (!isSetUp()) await acquireLock()
if (!isInstalled(root)) await install()
if (!arePagesBuilt(root)) build()

/**
 * Waits until no other process sets up this clone, then holds the lock until this process exits: two concurrent npm
 * runs would remove each other's files. The lock is a symbolic link, which is created atomically with its content: the
 * process id and its start time.
 */
async function acquireLock() {
  const lock = join(root, '.setting-up')
  let isAnnounced = false
  while (!isSetUp()) {
    try {
      symlinkSync(`${process.pid} ${startOf(process.pid)}`, lock)
      process.once('exit', () => rmSync(lock, { force: true }))
      return
    } catch (error) {
      // If no link can be created, nothing can be installed either, and npm reports why.
      if (error.code !== 'EEXIST') return
    }
    const other = ownerOf(lock)
    if (other === undefined) rmSync(lock, { force: true })
    else if (!isAnnounced) process.stderr.write(`Waiting for process ${other} to finish the set-up.\n`)
    isAnnounced ||= other !== undefined
    await wait(200)
  }
}

/** The process that holds the lock, if it still runs. In a restarted container, another process may have its id. */
function ownerOf(lock) {
  try {
    const [pid, start] = readlinkSync(lock).split(' ')
    const present = startOf(pid)
    if (present !== '' && present !== start) return undefined
    return isRunning(Number(pid)) ? pid : undefined
  } catch {
    return undefined
  }
}

/** The start time of a process from proc(5); empty on systems without it. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return ''
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function install() {
  const runtime = runtimePath(root)
  if (runtime === undefined) {
    fail(`Tollgate runs on Linux and macOS, on x64 and arm64; this machine is ${process.platform}-${process.arch}.`)
  }
  // Standard output is reserved for the command that follows.
  process.stderr.write('Installing dependencies, about a minute… ')
  const { status, output } = await npm(['ci', ...wanted])
  if (status !== 0) fail(`failed.\n${reason(output)}`)
  if (!existsSync(runtime)) fail(`failed.\nnpm has left out ${runtime}: run "npm config set omit=" and try again.`)
  const fault = faultOf(runtime)
  if (fault !== undefined) fail(`failed.\n${fault}`)
  writeFileSync(notePath(root), lockHash(root))
  compile(runtime)
  process.stderr.write('done.\n')
}

/** Why this machine cannot run the installed Node, and what to do; undefined if it can. */
function faultOf(runtime) {
  const { status, error, stderr } = spawnSync(runtime, ['--version'], { encoding: 'utf8' })
  if (status === 0) return undefined
  // The file exists, so the missing one is the loader of glibc, which it names.
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
    return 'The Node that Tollgate runs on needs the GNU C library (glibc), which this system does not have. Alpine Linux, for example, is not supported: use Debian or another distribution with glibc.'
  }
  const missing = /lib[\w+-]+\.so[.\d]*(?=: cannot open shared object file)/.exec(stderr)?.[0]
  if (missing === undefined) return `The Node that Tollgate runs on does not start: ${error?.message ?? stderr.trim()}`
  const remedy = packagesWith[missing] ?? 'install the package that contains it'
  return `The Node that Tollgate runs on needs ${missing}: ${remedy}, and try again.`
}

/** Compiles the program ahead of the first start. If this fails, the first start compiles it. */
function compile(runtime) {
  spawnSync(runtime, [...flags, join(root, 'scripts/compile.js'), '--version'], {
    env: { NODE_COMPILE_CACHE: compiledPath(root), ...process.env },
    stdio: 'ignore',
  })
}

function build() {
  process.stderr.write('Building the pages… ')
  const failure = buildPages(root)
  if (failure !== undefined) fail(`failed.\n${failure}\nThe pages could not be built.`)
  process.stderr.write('done.\n')
}

/** Runs the npm that started this script, else the one next to this Node, else the first in PATH. */
function npm(args) {
  const running = process.env.npm_execpath
  const beside = join(dirname(process.execPath), 'npm')
  const [file, ...first] = running?.endsWith('npm-cli.js')
    ? [process.execPath, running]
    : [existsSync(beside) ? beside : 'npm']
  return new Promise((resolve) => {
    const child = spawn(file, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    child.on('error', (error) => resolve({ status: 1, output: `npm could not be run: ${error.message}` }))
    child.on('close', (status) => resolve({ status, output }))
  })
}

function reason(output) {
  const offline =
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/.exec(
      output,
    )
  if (offline === null) return `${output.trim()}\nThe dependencies could not be installed: npm says why above.`
  return `npm cannot reach its registry (${offline[0]}): check the network, or npm's "registry" and "proxy" settings, and try again.`
}

function fail(line) {
  process.stderr.write(`${line}\n`)
  process.exit(1)
}
