import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { openEmbedded, type EmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { createTestLog } from './log.ts'

export const exec = promisify(execFile)
export const isRoot = process.getuid?.() === 0
/** The user for a child that must not run as root. */
export const nobody = isRoot ? { uid: 65534, gid: 65534 } : {}

// Tests kill processes, not the machine, so fsync may be off.
const hasty = { fsync: 'off' }
const childScript = path.join(import.meta.dirname, 'embedded-child.ts')

/**
 * Tools for a file of tests of the embedded database. All folders are removed after the file, and a failed test leaves
 * neither a process nor a server behind.
 */
export function embeddedTests() {
  const { log, text: logged } = createTestLog()
  const endings: (() => Promise<unknown>)[] = []
  let root = ''
  let made: Promise<string> | undefined

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'tollgate-embedded-'))
    await chmod(root, 0o711)
  })
  afterEach(() => Promise.allSettled(endings.splice(0).map((end) => end())))
  after(() => rm(root, { recursive: true }))

  /** A folder for one test that every user can traverse. */
  async function openFolder(): Promise<string> {
    const parent = await mkdtemp(path.join(root, 'e-'))
    await chmod(parent, 0o711)
    return parent
  }
  /** The path of a data folder that does not exist yet. */
  async function folder(name = 'data'): Promise<string> {
    return path.join(await openFolder(), name)
  }
  async function open(directory: string, settings: Record<string, string> = hasty): Promise<EmbeddedPostgres> {
    const embedded = await openEmbedded({ directory, log, settings })
    endings.push(() => embedded.close())
    return embedded
  }
  async function make(): Promise<string> {
    const directory = await folder()
    await (await openEmbedded({ directory, log, settings: hasty })).close()
    return directory
  }
  /** A copy of a data folder with a cluster, which is faster than creating one. */
  async function madeFolder(): Promise<string> {
    const directory = await folder()
    await exec('cp', ['-Rp', await (made ??= make()), directory])
    return directory
  }
  /** Starts a child that opens the database. Returns the first line it wrote, and a function that ends it. */
  async function startChild(directory: string, { script = childScript, identity = {} } = {}) {
    const child = spawn(process.execPath, [script, directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: '/',
      ...identity,
    })
    const exited = once(child, 'exit')
    const end = () => (child.stdin.end(), exited)
    endings.push(end)
    const [line] = await Promise.race([once(child.stdout, 'data'), exited.then(() => ['(ended)'])])
    return { child, line: String(line).trim(), end }
  }
  return { log, logged, openFolder, folder, madeFolder, open, startChild, childScript }
}

/** The server's process id from its pid file; undefined if it has stopped or has not written the file yet. */
export function serverOf(directory: string): number | undefined {
  const file = path.join(directory, 'postgres/postmaster.pid')
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) || undefined : undefined
}

export async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Waits for the condition, at most a minute. */
export async function eventually(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await condition()); await wait(20)) {
    assert.ok(Date.now() < deadline, `not within a minute: ${what}`)
  }
}
