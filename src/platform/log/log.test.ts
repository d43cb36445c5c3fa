import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parseObject } from '../../../tests/support/json.ts'
import { createLog, writeLine } from './line-log.ts'
import { readableLine } from './readable-line.ts'

const openLogFile = JSON.stringify(path.join(import.meta.dirname, 'log.ts'))
const scriptOf = (text: string) => `import { openLog } from ${openLogFile}\nconst { log, close } = openLog()\n${text}`

/** Runs a script that has `log` and `close`, and kills it after `enough` lines. With `unread`, its stderr is not read. */
async function run(
  script: string,
  { unread = false, enough = Number.POSITIVE_INFINITY } = {},
): Promise<{ lines: string[]; writes: number; code: number | null }> {
  const args = ['--input-type=module', '-e', scriptOf(script)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  let writes = 0
  if (!unread) {
    child.stderr.on('data', (data) => {
      said += String(data)
      writes++
      if (said.split('\n').length > enough) child.kill('SIGKILL')
    })
  }
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  if (!unread && !child.stderr.readableEnded) await once(child.stderr, 'end')
  child.stderr.destroy()
  const lines = said.split('\n').filter((line) => line !== '')
  return { lines: lines.map((line) => String(parseObject(line)['msg'])), writes, code }
}

const withoutTime = (line?: string) => line?.replace(/"time":\d{13},/, '')

test("a line that bypasses pino equals pino's own", () => {
  const written: string[] = []
  const log = createLog({ write: (line) => written.push(line) })
  const fields = { id: '01a2-f', route: '/v1/"generate"\n\u2028', code: undefined, ms: 10.1, status: 200 }
  log.info(fields, 'request')
  writeLine(log, fields, 'request')
  const [theirs, ours] = written
  assert.equal(withoutTime(ours), withoutTime(theirs))
  assert.match(String(ours), /"time":\d{13},/)

  log.level = 'warn'
  writeLine(log, fields, 'request')
  assert.equal(written.length, 2, 'lines below the level are not written')
})

test('on a terminal a line is readable and contains no control characters', () => {
  const line = { level: 40, time: Date.now(), id: '0199-a', reason: 'two words', ms: 1.5, msg: 'lost\u001b[31m' }
  const shown = readableLine(`${JSON.stringify(line)}\n`)
  assert.match(shown, /^\d\d:\d\d:\d\d WARN {2}lost\\u001b\[31m id=0199-a reason="two words" ms=1\.5\n$/)
})

const few = 'for (const word of ["one", "two", "three"]) log.info(word)'

test('lines are written together, soon and in order', async () => {
  const { lines, writes } = await run(`${few}\nsetInterval(() => undefined, 1000)`, { enough: 3 })
  assert.deepEqual([lines, writes], [['one', 'two', 'three'], 1])
})

test('many lines are written without waiting for the timer', async () => {
  const many = 'for (let i = 0; i < 1000; i++) log.info(String(i))'
  // Blocks the thread, so that no timer fires.
  const stuck = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)\nprocess.kill(process.pid, 'SIGKILL')`
  const { lines } = await run(`${many}\n${stuck}`, { enough: 100 })
  assert.ok(lines.length >= 100, `${lines.length} lines`)
  assert.deepEqual(lines.slice(0, 3), ['0', '1', '2'])
})

test('no line is lost when the process exits, is terminated or fails', async () => {
  for (const [end, status] of [
    ['', 0],
    ['close(); log.info("four")', 0],
    ['process.exit(3)', 3],
  ] as const) {
    const { lines, code } = await run(`${few}\n${end}`)
    assert.deepEqual(lines.slice(0, 3), ['one', 'two', 'three'], end)
    assert.equal(lines.length, end.includes('four') ? 4 : 3)
    assert.equal(code, status)
  }
})

test('unread lines are dropped and do not prevent a process from exiting', async () => {
  const flood = `
    for (let i = 0; i < 300; i++) {
      log.info('x'.repeat(100_000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    close()`
  assert.equal(typeof (await run(flood, { unread: true })).code, 'number', 'it ended by itself')
})

const full = '/dev/full'
test('a log that cannot be written does not prevent a process from exiting', { skip: !existsSync(full) }, async () => {
  const stderr = openSync(full, 'w')
  for (const [end, status] of [
    ['setTimeout(close, 500)', 0],
    ['setTimeout(() => process.exit(3), 500)', 3],
  ] as const) {
    const args = ['--input-type=module', '-e', scriptOf(`${few}\n${end}`)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', stderr], timeout: 20_000 })
    assert.deepEqual(await once(child, 'exit'), [status, null], end)
  }
  closeSync(stderr)
})
