import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { withFileLock } from './file-lock.ts'
import { isRunning, isPidInUse, startOf, workersIn, worksIn } from './processes.ts'
import { OperatorError } from '../problems.ts'

let root: string
before(async () => void (root = await mkdtemp(join(tmpdir(), 'tollgate-lock-'))))
after(() => rm(root, { recursive: true }))

async function freshLock(): Promise<{ path: string; files: () => Promise<string[]> }> {
  const directory = await mkdtemp(join(root, 'l-'))
  return { path: join(directory, 'x.lock'), files: () => readdir(directory) }
}

/** The id of a process that has ended. */
function deadProcess(): number {
  return Number(execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }))
}

describe('a file lock', () => {
  test('lets one holder work at a time, and every contender eventually', async () => {
    const { path, files } = await freshLock()
    let inside = 0
    let total = 0
    const work = async () => {
      inside += 1
      assert.equal(inside, 1)
      for (let round = 0; round < 5; round += 1) await turn()
      inside -= 1
      total += 1
    }
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(path, work)))
    assert.equal(total, 20)
    assert.deepEqual(await files(), [])
  })

  test('lets one process work at a time', async () => {
    const { path, files } = await freshLock()
    // Without the lock, one would find the other's file or fail to create its own.
    const script = `
      import { rmSync, writeFileSync } from 'node:fs'
      import { withFileLock } from '${join(import.meta.dirname, 'file-lock.ts')}'
      for (let round = 0; round < 20; round += 1) {
        await withFileLock('${path}', async () => {
          writeFileSync('${path}.work', '', { flag: 'wx' })
          await new Promise((resolve) => setTimeout(resolve, 1))
          rmSync('${path}.work')
        })
      }`
    const args = ['--input-type=module', '-e', script]
    await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, args)))
    assert.deepEqual(await files(), [])
  })

  test('is released if the work fails, and the error is passed on', async () => {
    const { path, files } = await freshLock()
    const fault = new Error('no')
    await assert.rejects(
      withFileLock(path, () => Promise.reject(fault)),
      fault,
    )
    assert.deepEqual(await files(), [])
    assert.equal(await withFileLock(path, async () => 'next'), 'next')
  })

  test('of a killed process is ignored, even if its id was reused', async () => {
    const { path, files } = await freshLock()
    await writeFile(`${path}-${deadProcess()}-123-aa`, '')
    await writeFile(`${path}-${process.ppid}-1-bb`, '')
    assert.equal(await withFileLock(path, async () => 'done', { patience: 60_000 }), 'done')
    assert.deepEqual(await files(), [])
  })

  test('of a running process is waited for, and then named', async () => {
    const { path, files } = await freshLock()
    const held = `${path}-${process.ppid}-${startOf(process.ppid)}-aa`
    await writeFile(held, '')
    await assert.rejects(
      withFileLock(path, () => Promise.reject(new Error('worked')), { patience: 100 }),
      (error) => error instanceof OperatorError && error.message.startsWith(`Process ${process.ppid} has been`),
    )
    assert.deepEqual(await files(), [basename(held)])
  })

  test('is not waited for after an abort', async () => {
    const { path, files } = await freshLock()
    const held = `${path}-${process.ppid}-${startOf(process.ppid)}-aa`
    await writeFile(held, '')
    const wanted = new AbortController()
    const waiting = withFileLock(path, () => Promise.reject(new Error('worked')), { signal: wanted.signal })
    wanted.abort(new Error('no longer wanted'))
    await assert.rejects(waiting, /^Error: no longer wanted$/)
    assert.deepEqual(await files(), [basename(held)])
  })

  test('ignores other files', async () => {
    const { path, files } = await freshLock()
    const others = ['x.lock', 'x.lock-1', 'x.lock-abc-1-aa', 'y.lock-1-1-aa']
    for (const name of others) await writeFile(join(path, '..', name), '')
    assert.equal(await withFileLock(path, async () => 'done', { patience: 60_000 }), 'done')
    assert.deepEqual((await files()).toSorted(), others.toSorted())
  })
})

describe('processes', () => {
  test('are running or not', () => {
    assert.ok(isRunning(process.pid))
    const dead = deadProcess()
    assert.ok(!isRunning(dead) && !isPidInUse(dead))
    assert.notEqual(startOf(process.pid), startOf(1))
    assert.equal(startOf(dead), '0')
  })

  test('are found by their folder', { skip: process.platform !== 'linux' }, () => {
    assert.ok(worksIn(process.pid, process.cwd()))
    assert.ok(!worksIn(process.pid, root))
    assert.ok(workersIn(process.cwd()).includes(process.pid))
    assert.deepEqual(workersIn(root), [])
  })
})
