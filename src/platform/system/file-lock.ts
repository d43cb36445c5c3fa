import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isRunning, startOf } from './processes.ts'
import { OperatorError } from '../problems.ts'

interface LockOptions {
  readonly patience?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs `work` under a lock that processes on this machine share by its path. The lock of a killed process is ignored.
 * Throws OperatorError if the lock is not free within `patience` ms (default two minutes), or the signal's reason if it
 * aborts first.
 *
 * Each contender creates its own file and then looks for others. Of two at once, at least one sees the other and backs
 * off. So no contender ever removes a file that may belong to a running process, as taking over a stale lock file could.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await acquire(path, options)
  try {
    return await work()
  } finally {
    await release()
  }
}

async function acquire(path: string, { patience = 120_000, signal }: LockOptions): Promise<() => Promise<void>> {
  const deadline = Date.now() + patience
  const mine = `${path}-${process.pid}-${startOf(process.pid)}-${randomBytes(6).toString('hex')}`
  const release = () => rm(mine, { force: true })
  for (;;) {
    signal?.throwIfAborted()
    let other = await livingContender(path, mine)
    if (other === undefined) {
      await create(mine)
      other = await livingContender(path, mine)
      if (other === undefined) return release
      await release()
    }
    if (Date.now() > deadline) {
      throw new OperatorError(
        `Process ${other} has been working on ${dirname(path)} for too long: end it, or wait until it ends.`,
      )
    }
    await wait(5 + Math.random() * 25)
  }
}

/** An error names the folder: its reader cannot do anything about a file that does not exist. */
async function create(file: string): Promise<void> {
  try {
    await writeFile(file, '', { mode: 0o600 })
  } catch (error) {
    throw error instanceof Error ? Object.assign(error, { path: dirname(file) }) : error
  }
}

async function livingContender(path: string, mine: string): Promise<number | undefined> {
  const directory = dirname(path)
  for (const name of await readdir(directory)) {
    const file = join(directory, name)
    const [, pid, start] = /^-(\d+)-(\d+)-[0-9a-f]+$/.exec(name.slice(basename(path).length)) ?? []
    if (!name.startsWith(basename(path)) || pid === undefined || file === mine) continue
    if (isRunning(Number(pid)) && startOf(Number(pid)) === start) return Number(pid)
    await rm(file, { force: true })
  }
  return undefined
}
