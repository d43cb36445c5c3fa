import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { stringify } from 'yaml'
import { verifyBooks } from '../../src/billing/verify.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import { isRunning } from '../../src/platform/system/processes.ts'
import { tollgate, tollgateHere } from '../support/command-line.ts'
import { detail } from '../support/detail.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/embedded.ts'
import { createGate } from '../support/gate.ts'
import { parseObject } from '../support/json.ts'
import { createTestLog } from '../support/log.ts'
import { upstreamModel } from '../support/service.ts'
import { freePorts, main, start, type Started } from '../support/start.ts'
import { startVendor } from '../support/vendor.ts'
import { fixture, setUp, temporaryFolder } from '../support/fixture.ts'

/** The advisory lock of `migrations-store.ts`. */
const migrationLock = 7_265_538_911

// `listen.processes: 2`: one process accepts connections, two serve them.

const folder = temporaryFolder()
let service: Started
let url: string
let environment: Record<string, string>

const vendor = fixture(() => startVendor())
const home = fixture(() => createTestDatabase())
setUp(async () => {
  const port = await freePorts()
  url = `http://127.0.0.1:${port}`
  const settings = {
    listen: { processes: 2, port },
    metrics: { token: 'figures' },
    models: [upstreamModel(vendor.url)],
  }
  await writeFile(path.join(folder, 'tollgate.yaml'), stringify(settings))
  environment = { DATABASE_URL: home.url, TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'), TOLLGATE_DATA: folder }
  service = await start(environment)
})

function assertGone(pids: readonly number[]): void {
  assert.equal(pids.length > 0, true)
  assert.deepEqual(pids.filter(isRunning), [])
}
after(() => service.end())

const command = (...args: string[]) => tollgateHere([...args, '--json'], environment)

/** A key of a new account with this limit. */
async function newKey(name: string, rpm: number): Promise<string> {
  await command('account', 'create', '--name', name, '--rpm', String(rpm), '--credit', '100')
  const { stdout, stderr } = await command('key', 'create', '--account', name, '--name', 'test')
  assert.equal(stderr, '')
  return String(parseObject(stdout)['key'])
}

/** Sends a request on a new connection, so that both workers get some. */
async function call(key: string, signal?: AbortSignal): Promise<number> {
  const response = await fetch(`${url}/v1/generate`, {
    method: 'POST',
    ...(signal && { signal }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'fast', input: 'Hello', max_output_tokens: 5 }),
  })
  await response.arrayBuffer()
  return response.status
}

const isServed = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200

/** The value of a metric. */
async function figure(name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer figures' } })
  const line = (await response.text()).split('\n').find((each) => each.startsWith(name))
  return Number(line?.split(' ').at(-1))
}

const workers = (): number[] =>
  [...service.stderr.matchAll(/"pid":(\d+),"msg":"a worker is ready"/g)].map(([, pid]) => Number(pid))

test('the greeting is printed once, when both workers serve', async () => {
  assert.equal(service.stdout.match(/Tollgate is ready at/g)?.length, 1)
  await eventually('the log names both', () => workers().length === 2)
  const versions = await Promise.all(Array.from({ length: 8 }, () => fetch(`${url}/healthz`).then((it) => it.status)))
  assert.deepEqual(new Set(versions), new Set([200]))
})

detail('what prevents a worker from starting is one line, and no process remains', async () => {
  const file = path.join(folder, 'absent.yaml')
  const model = { id: 'm', engine: 'ai-sdk', package: '@ai-sdk/nowhere', upstream_model: 'm' }
  const limits = { context: 64, max_output_tokens: 32, price: { input: '1', output: '2' } }
  const listen = { processes: 2, port: await freePorts() }
  await writeFile(file, stringify({ listen, models: [{ ...model, ...limits }] }))
  const { status, stdout, stderr } = await tollgate(['start'], { ...environment, TOLLGATE_CONFIG: file })
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /(?:^|\n)models: the package @ai-sdk\/nowhere is not installed: [^\n]+\n$/)
})

test('the metrics cover both processes', async () => {
  const key = await newKey('Measured', 1000)
  const name = 'tollgate_request_seconds_count{method="POST",route="/v1/generate",status="200"'
  // The counter begins with the first request.
  assert.equal(await call(key), 200)
  const earlier = await figure(name)
  for (let calls = 0; calls < 10; calls++) assert.equal(await call(key), 200)
  assert.equal((await figure(name)) - earlier, 10)
  assert.equal(await figure('tollgate_model_ready{model="fast"}'), 1)
})

test('a worker that is killed is replaced, and the other serves meanwhile', async () => {
  const key = await newKey('Lasting', 100_000)
  const [first] = workers()
  process.kill(first ?? assert.fail(), 'SIGKILL')
  await eventually('it is replaced', async () => {
    // The connections of the killed worker are lost, and one that it was being handed stays open; every other call is served.
    await call(key, AbortSignal.timeout(5000)).then(
      (status) => assert.equal(status, 200),
      () => undefined,
    )
    return workers().length === 3
  })
  assert.match(service.stderr, /"reason":"SIGKILL","msg":"a worker ended and is replaced"/)
  const statuses = await Promise.all(Array.from({ length: 20 }, () => call(key)))
  assert.deepEqual(new Set(statuses), new Set([200]))
})

test('SIGTERM lets both finish, and no process remains', async () => {
  const key = await newKey('Last', 100_000)
  const gate = createGate()
  const earlier = vendor.calls
  vendor.set({ gate: gate.pass })
  const calls = Array.from({ length: 20 }, () => call(key))
  await eventually('all are in flight', () => vendor.calls === earlier + calls.length)
  const ended = service.end('SIGTERM')
  await eventually('it stops', () => service.stderr.includes('"msg":"stopping'))
  gate.open()
  assert.deepEqual(new Set(await Promise.all(calls)), new Set([200]))
  assert.equal(await ended, 0)
  vendor.set({})
  assertGone(workers())
  const database = openDatabase(home.url, { log: createTestLog().log, connections: 1 })
  const verdict = await verifyBooks(database)
  await database.close()
  assert.ok(verdict.ok, JSON.stringify(verdict.checks))
})

const lockMigrations = (client: Client) => client.query('select pg_advisory_lock($1)', [migrationLock])

detail(
  'SIGTERM while further workers start: no new requests, those in flight finish, and nothing waits for the start',
  async (t) => {
    const key = await newKey('Early', 100_000)
    const clients = [1, 2, 3].map(() => new Client(home.url))
    await Promise.all(clients.map((each) => each.connect()))
    const [watching = assert.fail(), ...turns] = clients
    let [holding = assert.fail(), next = assert.fail()] = turns
    await lockMigrations(holding)
    const child = spawn(process.execPath, [main, 'start'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    const gate = createGate()
    t.after(async () => {
      child.kill('SIGKILL')
      gate.open()
      await Promise.all(clients.map((each) => each.end()))
      vendor.set({})
    })
    const ended = once(child, 'close')
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (data) => (said[name] += String(data)))
    const ready = () => said.stderr.split('"msg":"a worker is ready"').length - 1
    const areWaiting = async (count: number) => {
      const { rows } = await watching.query(
        `select from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows.length === count
    }
    // Each process takes this lock before it listens, in the order in which they wait for it. The test waits behind each, so that
    // the second worker cannot be faster.
    for (const name of ['the main process', 'the first worker']) {
      await eventually(`${name} waits`, () => areWaiting(1))
      const locked = lockMigrations(next)
      await eventually(`the test waits behind ${name}`, () => areWaiting(2))
      await holding.query('select pg_advisory_unlock($1)', [migrationLock])
      await locked
      ;[holding, next] = [next, holding]
    }
    await eventually('the first serves', () => ready() === 1)

    const earlier = vendor.calls
    vendor.set({ gate: gate.pass })
    const inFlight = call(key)
    await eventually('it is in flight', () => vendor.calls === earlier + 1)
    child.kill('SIGTERM')
    await eventually('it refuses new requests', async () => !(await isServed()))
    assert.notEqual(await call(key).catch(() => 'refused'), 200)
    assert.equal(vendor.calls, earlier + 1)
    gate.open()
    assert.equal(await inFlight, 200)
    // The lock is still held.
    assert.deepEqual(await ended, [0, null])
    assert.equal(ready(), 1)
    assert.equal(said.stdout, '')
    assert.doesNotMatch(said.stderr, /"level":50|Unexpected/)
    assertGone([...said.stderr.matchAll(/"pid":(\d+),"msg":"a worker is ready"/g)].map(([, pid]) => Number(pid)))
  },
)

detail('workers end with the process that started them, even if that is killed', async () => {
  service = await start(environment)
  await eventually('the log names both', () => workers().length === 2)
  await service.end('SIGKILL')
  await eventually('they are gone', () => !workers().some(isRunning))
})
