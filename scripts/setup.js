// Installs what package-lock.json names and builds the pages of the portal, unless both are there already. Runs on any
// Node from 20 on, before anything else.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { arePagesBuilt, buildPages } from './pages.js'
import { compiledPath, flags, isInstalled, lockHash, notePath, runtimePath } from './runtime.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

// What builds the pages is a development dependency, which npm leaves out where NODE_ENV is "production".
const wanted = '--ignore-scripts --include=dev --loglevel=error --no-audit --no-fund'.split(' ')

const isSetUp = () => isInstalled(root) && arePagesBuilt(root)

// PostgreSQL's set-up hands its own path to a shell, and what builds the pages takes a question mark for a query.
const [strange] = /[?$`"\\]/.exec(root) ?? []
if (strange !== undefined) fail(`Tollgate cannot run in a folder with ${strange} in its path: move or rename ${root}.`)
if (!isSetUp()) await beAlone()
if (!isInstalled(root)) await install()
if (!arePagesBuilt(root)) build()

/**
 * Returns once no other process sets up this clone, and keeps others out until this one ends: two npm at once would take
 * each other's files away. A link is made at once with what it says, which is the process and when it started.
 */
async function beAlone() {
  const sign = join(root, '.setting-up')
  let isTold = false
  while (!isSetUp()) {
    try {
      symlinkSync(`${process.pid} ${startOf(process.pid)}`, sign)
      process.once('exit', () => rmSync(sign, { force: true }))
      return
    } catch (error) {
      // Where no link can be made, nothing can be installed: that is npm's to say.
      if (error.code !== 'EEXIST') return
    }
    const other = runningAt(sign)
    if (other === undefined) rmSync(sign, { force: true })
    else if (!isTold) process.stderr.write(`Waiting for the set-up that process ${other} is at.\n`)
    isTold ||= other !== undefined
    await wait(200)
  }
}

/** The process that has left the sign, if it still runs. In a container that is started again, others have its id. */
function runningAt(sign) {
  try {
    const [pid, start] = readlinkSync(sign).split(' ')
    const present = startOf(pid)
    if (present !== '' && present !== start) return undefined
    return isRunning(Number(pid)) ? pid : undefined
  } catch {
    return undefined
  }
}

/** When a process started, as proc(5) has it; empty where the system does not say. */
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
  // Standard output belongs to the command that set-up runs before.
  process.stderr.write('Installing dependencies, about a minute… ')
  const { status, output } = await npm(['ci', ...wanted])
  if (status !== 0) fail(`failed.\n${reason(output)}`)
  if (!existsSync(runtime)) fail(`failed.\nnpm has left out ${runtime}: run "npm config set omit=" and try again.`)
  writeFileSync(notePath(root), lockHash(root))
  compile(runtime)
  process.stderr.write('done.\n')
}

/** So that nothing is left to compile for the first start. What goes wrong here, that one does by itself. */
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

/** Runs the npm that runs us, else the one beside this Node, else the first on the path. */
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
