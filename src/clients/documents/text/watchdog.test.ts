import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'

/** How a process ends that never yields, watched with these arguments. */
async function endOf(watched: readonly number[]): Promise<unknown> {
  const watchdog = JSON.stringify(new URL('watchdog.ts', import.meta.url).href)
  const program = `const { Worker } = require('node:worker_threads')
    new Worker(new URL(${watchdog}), { argv: ${JSON.stringify(watched)} }).unref()
    for (;;);`
  const child = spawn(process.execPath, ['--eval', program], { stdio: 'ignore', timeout: 60_000 })
  await once(child, 'exit')
  return child.signalCode
}

describe('the watchdog ends a process that never yields', () => {
  const [much, long, own] = [2 ** 40, 2 ** 31 - 1, process.pid]
  for (const [why, watched] of [
    ['uses more memory', [1, long, own]],
    ['runs longer', [much, 1, own]],
    ['has lost its parent', [much, long, 0]],
  ] as const) {
    test(`once it ${why}`, async () => assert.equal(await endOf(watched), 'SIGKILL'))
  }
})
