import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { stringify } from 'yaml'
import { detail } from '../support/detail.ts'
import { createTestDatabase } from '../support/database.ts'
import { isEndure } from '../support/draws.ts'
import { eventually, serverOf } from '../support/embedded.ts'
import { upstreamModel } from '../support/service.ts'
import { freePorts, main, start } from '../support/start.ts'
import { setUp, temporaryFolder } from '../support/fixture.ts'

/** The advisory lock of `migrations-store.ts`. */
const migrationLock = 7_265_538_911

const folder = temporaryFolder()
let port: number
setUp(async () => {
  await writeFile(path.join(folder, 'tollgate.yaml'), '')
  port = await freePorts()
})

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc' }

const environment = () => ({
  TOLLGATE_DATA: path.join(folder, 'data'),
  TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  PORT: String(port),
})

test('a start that is interrupted leaves no database server behind', async () => {
  const child = spawn(process.execPath, [main, 'start'], { env: environment(), stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'close')
  await eventually('the database server runs', () => serverOf(path.join(folder, 'data')) !== undefined)
  child.kill('SIGINT')
  assert.deepEqual(await ended, [0, null])
  assert.equal(child.stdout.read(), null, 'it was ready before it was told to stop')
  assert.equal(serverOf(path.join(folder, 'data')), undefined)
})

detail('a start that is interrupted during a recovery exits at once and leaves no database server behind', async () => {
  const cluster = path.join(folder, 'data/postgres')
  const settings = path.join(cluster, 'postgresql.auto.conf')
  await writeFile(path.join(cluster, 'recovery.signal'), '')
  await writeFile(settings, "restore_command = 'sleep 600'\n")
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const child = spawn(process.execPath, [main, 'start'], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    const said = text(child.stderr)
    const ended = once(child, 'close')
    await eventually('the database server runs', () => serverOf(path.join(folder, 'data')) !== undefined)
    child.kill(signal)
    const patience = new AbortController()
    const late = wait(30_000, 'it waits', { signal: patience.signal }).catch(() => undefined)
    assert.deepEqual(await Promise.race([ended, late]), [0, null])
    patience.abort()
    assert.equal(serverOf(path.join(folder, 'data')), undefined)
    assert.match(await said, /^[^\n]*"msg":"stopping[^\n]*\n$/)
  }
  await rm(path.join(cluster, 'recovery.signal'))
  await writeFile(settings, '')
})

detail('a start that waits for the migration of another instance stops at once', async (t) => {
  const home = await createTestDatabase()
  const other = new Client(home.url)
  await other.connect()
  t.after(() => other.end().then(() => home.drop()))
  await other.query('select pg_advisory_lock($1)', [migrationLock])
  const waiting = async () => {
    const { rows } = await other.query(
      `select from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    )
    return rows.length
  }
  const TOLLGATE_CONFIG = path.join(folder, 'waiting.yaml')
  for (const [processes, ...flags] of [[1], [1, '--new-currency'], [2]]) {
    await writeFile(
      TOLLGATE_CONFIG,
      stringify({ listen: { processes }, models: [upstreamModel('http://127.0.0.1:9/v1')] }),
    )
    const child = spawn(process.execPath, [main, 'start', ...flags.map(String)], {
      env: { ...environment(), DATABASE_URL: home.url, TOLLGATE_CONFIG },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    child.stderr.on('data', (data) => (said += String(data)))
    const ended = once(child, 'close')
    await eventually('it waits', async () => {
      assert.equal(child.exitCode, null, said)
      return (await waiting()) === 1
    })
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    // Nothing about the deadline at which a process that cannot stop ends.
    assert.match(said, /^[^\n]*"msg":"stopping[^\n]*\n$/)
    await eventually('no connection waits', async () => (await waiting()) === 0)
  }
})

detail('Ctrl-C on a terminal, which signals every process of the service, logs no error', onLinux, async () => {
  const child = spawn(process.execPath, [main, 'start'], {
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid = assert.fail() } = child
  const said = text(child.stderr)
  const ended = once(child, 'close')
  // The demo's provider starts first; it does not ignore signals yet.
  await eventually('it has a process', () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '')
  process.kill(-pid, 'SIGINT')
  assert.deepEqual(await ended, [0, null])
  assert.doesNotMatch(await said, /fault|"level":50/)
})

detail('a closed terminal stops the service as SIGTERM does, after one SIGHUP or many', async () => {
  const service = await start(environment())
  for (let times = 0; times < 5000; times++) service.signal('SIGHUP')
  assert.equal(await service.end('SIGHUP'), 0)
  assert.match(service.stderr, /"signal":"SIGHUP","msg":"stopping/)
  assert.equal(serverOf(path.join(folder, 'data')), undefined)
})

test('A47 during drain_delay everything is served but /readyz, and a second SIGTERM ends the delay', async (t) => {
  const home = await createTestDatabase()
  t.after(() => home.drop())
  const TOLLGATE_CONFIG = path.join(folder, 'leaving.yaml')
  for (const processes of isEndure ? [1, 2] : [2]) {
    const listen = { processes, drain_delay: '10m' }
    await writeFile(TOLLGATE_CONFIG, stringify({ listen, models: [upstreamModel('http://127.0.0.1:9/v1')] }))
    const service = await start({ ...environment(), DATABASE_URL: home.url, TOLLGATE_CONFIG })
    t.after(() => service.end('SIGKILL'))
    const statusOf = (url: string) => fetch(`http://localhost:${port}${url}`).then(({ status }) => status)
    assert.equal(await statusOf('/readyz'), 200)
    service.signal('SIGTERM')
    // Each request may reach another process.
    for (let unready = 0; unready < 4;) unready = (await statusOf('/readyz')) === 503 ? unready + 1 : 0
    for (const url of ['/healthz', '/docs', '/v1/models']) {
      assert.notEqual(await statusOf(url), 503, url)
      assert.equal(await statusOf('/readyz'), 503)
    }
    assert.equal(await service.end('SIGTERM'), 0)
  }
})
