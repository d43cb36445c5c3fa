import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { until } from '../../../tests/support/until.ts'
import { watchRecovery } from './recovery.ts'

const patience = 3000
const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc' }

/** A folder with an idle process of this title. */
async function folderOf(t: TestContext, title: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tollgate-progress-'))
  const worker = spawn('sleep', ['600'], { argv0: title, cwd: folder, stdio: 'ignore' })
  await once(worker, 'spawn')
  t.after(async () => {
    worker.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })
  // Until it sleeps, it uses processor time, which is progress.
  await until(async () => /\) S /.test(await readFile(`/proc/${worker.pid}/stat`, 'utf8')))
  return folder
}

/** Moves every clock forward, as after a sleep of the machine. Uses whole ms, because fractions would be rounded. */
function clocks(t: TestContext): (ms: number) => void {
  const started = { Date: Date.now(), performance: Math.floor(performance.now()) }
  let passed = 0
  t.mock.method(Date, 'now', () => started.Date + passed)
  t.mock.method(performance, 'now', () => started.performance + passed)
  return (ms) => void (passed += ms)
}

for (const title of ['postgres: startup recovering 000000010000000000000001', 'postgres: firm: checkpointer']) {
  test(`a recovery is stuck after enough checks without progress: ${title}`, onLinux, async (t) => {
    const isStuck = watchRecovery(await folderOf(t, title), patience)
    const pass = clocks(t)
    const seen = [0, 1000, 1000, 500, 1000].map((ms) => {
      pass(ms)
      return isStuck()
    })
    assert.deepEqual(seen, [false, false, false, false, true])
  })
}

test('a sleep of the machine does not make a recovery stuck', onLinux, async (t) => {
  const isStuck = watchRecovery(await folderOf(t, 'postgres: startup'), patience)
  const pass = clocks(t)
  isStuck()
  pass(8 * 3_600_000)
  assert.equal(isStuck(), false)
})

test('a recovery whose processes are not visible is never stuck', onLinux, async (t) => {
  const isStuck = watchRecovery(await folderOf(t, 'postgres'), patience)
  const pass = clocks(t)
  for (let look = 0; look < 10; look += 1) {
    assert.equal(isStuck(), false)
    pass(1000)
  }
})
