import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { memoryOf, processorTimeOf } from './proc.ts'

const options = { skip: process.platform === 'linux' ? false : 'needs /proc' }
/** Uses at least so much processor time, in seconds. */
const work = 0.3
const burn = `const end = process.cpuUsage().user + ${work * 1e6}; while (process.cpuUsage().user < end);`
const children: ChildProcess[] = []
after(() => children.forEach((child) => child.kill('SIGKILL')))

/** Starts Node with a script and waits for its first line. */
async function run(script: string): Promise<{ pid: number; line: string }> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  let line = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (line += text))
  await once(child.stdout, 'data')
  return { pid: child.pid ?? 0, line }
}

test('processor time counts running and ended children, and can leave a process out', options, async () => {
  const { pid, line } = await run(`
    const { spawn, spawnSync } = require('node:child_process')
    spawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}])
    const running = ${JSON.stringify(`${burn} console.log(); process.stdin.resume()`)}
    const child = spawn(process.execPath, ['-e', running])
    child.stdout.once('data', () => console.log(child.pid))
    process.stdin.resume()`)
  // Each figure is cut off to whole clock ticks.
  const least = work - 0.02
  const all = processorTimeOf(pid) ?? 0
  const withoutChild = processorTimeOf(pid, Number(line)) ?? 0
  assert.ok(withoutChild >= least, `${withoutChild} s`)
  assert.ok(all - withoutChild >= least, `${all} s, ${withoutChild} s`)
  assert.equal(processorTimeOf(pid, pid), 0)
})

test('an unknown process has neither memory nor processor time', options, () => {
  assert.equal(processorTimeOf(2 ** 30), undefined)
  assert.equal(memoryOf(2 ** 30), undefined)
  const memory = memoryOf(process.pid)
  assert.ok(memory && memory.now > 10 && memory.peak >= memory.now)
})
