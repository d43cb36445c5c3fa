import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createTestLog } from '../../../tests/support/log.ts'
import { until } from '../../../tests/support/until.ts'
import { repeat } from './repeat.ts'

test('the work is repeated until it is stopped', async () => {
  const rounds: number[] = []
  const work = async () => void rounds.push(performance.now())
  const repeated = repeat({ name: 'counting', pause: 5, work, log: createTestLog().log })
  while (rounds.length < 3) await wait(1)
  await repeated.stop()
  const atStop = rounds.length
  await wait(30)
  assert.equal(rounds.length, atStop)
})

test('each round waits for the previous one, and stopping waits for the current one', async () => {
  let under = 0
  let most = 0
  let rounds = 0
  const work = async () => {
    under += 1
    rounds += 1
    most = Math.max(most, under)
    await wait(20)
    under -= 1
  }
  const repeated = repeat({ name: 'waiting', pause: 1, work, log: createTestLog().log })
  await until(() => rounds >= 3)
  await repeated.stop()
  assert.equal(most, 1)
  assert.equal(under, 0)
})

test('repeated failures are logged once, and once when they end, and do not stop the work', async () => {
  const rounds: number[] = []
  const { log, text } = createTestLog()
  const work = async () => {
    rounds.push(performance.now())
    if (rounds.length <= 3) throw new Error('away')
  }
  const repeated = repeat({ name: 'trying', pause: 1, work, log })
  while (rounds.length < 6) await wait(1)
  await repeated.stop()
  const [failed = '', works = '', ...more] = text().trim().split('\n')
  assert.match(failed, /trying: failed/)
  assert.match(works, /trying: works again/)
  assert.deepEqual(more, [])
})

test('a process with nothing else to do ends', async () => {
  const file = JSON.stringify(path.join(import.meta.dirname, 'repeat.ts'))
  const script = `import { repeat } from ${file}
    repeat({ name: 'idle', pause: 3_600_000, work: async () => undefined, log: undefined })
    console.log('begun')`
  const options = { timeout: 60_000 }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options)
  assert.equal(stdout, 'begun\n')
})
