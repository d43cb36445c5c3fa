import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createTestDatabase } from '../support/database.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { createGate } from '../support/gate.ts'
import { until } from '../support/until.ts'
import type { VendorOptions } from '../support/vendor-options.ts'
import { startVendor } from '../support/vendor.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

/** A vendor, and instances on one database. All are closed after the test, even if it fails. */
async function openInstances(t: TestContext, options: VendorOptions = {}) {
  const [vendor, server] = [await startVendor(options), await createTestDatabase()]
  const instances: Awaited<ReturnType<typeof startService>>[] = []
  t.after(async () => {
    await Promise.allSettled(instances.map((each) => each.close()))
    await server.drop()
    await vendor.close()
  })
  async function open(idleGrace = 0) {
    const instance = await startService({ models: [upstreamModel(vendor.url)], databaseUrl: server.url, idleGrace })
    instances.push(instance)
    return instance
  }
  return { vendor, open }
}

it('A18 a stopping service finishes and settles requests in flight, and refuses new ones', async (t) => {
  const gate = createGate()
  t.after(() => gate.open())
  const { vendor, open } = await openInstances(t, { gate: gate.pass })
  const stopping = await open()
  const { accountId, key } = await stopping.customer()
  const left = new AbortController()
  const inFlight = stopping.call('/v1/generate', key, valid)
  const abandoned = stopping.post('/v1/generate', key, valid, { signal: left.signal })
  // The hold comes before the call, and a caller who leaves between the two is not charged.
  await until(() => vendor.calls === 2)
  const closing = stopping.close()
  left.abort()
  await assert.rejects(abandoned)
  // A caller that is not known to have left would be served when the gate opens.
  await until(() => vendor.abandoned === 1)
  const refused = await stopping.call('/v1/generate', key, valid)
  assert.deepEqual([refused.status, refused.error['code']], [503, 'unavailable'])
  assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  assert.equal(refused.headers.get('connection'), 'close')
  assert.equal((await stopping.call('/healthz', undefined)).status, 200)
  gate.open()
  const answer = await inFlight
  assert.equal(answer.status, 200)
  await closing
  await assert.rejects(stopping.call('/healthz', undefined))

  const { rows, holds, held } = await (await open()).books(accountId)
  assert.deepEqual(rows.map(({ stopReason }) => stopReason).toSorted(), ['cancelled', 'complete'])
  assert.deepEqual([holds, held, vendor.calls], [0, 0n, 2])
})

it('A18 a service that stops under load resets no connection: each closes after its response', async (t) => {
  const { open } = await openInstances(t)
  const service = await open(10_000)
  const { key, accountId } = await service.customer()
  let answers = 0
  const callers = Array.from({ length: 32 }, async (_, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const statuses: number[] = []
    for (;;) {
      const answer = await post(service.url, key, agent)
      answers += 1
      statuses.push(answer.status)
      if (answer.connection === 'close') return statuses
      // The callers pause for longer than a request takes, so that there are moments without a request.
      await wait(100 + index)
    }
  })
  await until(() => answers > 200)
  const closing = service.close()
  const all = (await Promise.all(callers)).flat()
  await closing
  assert.deepEqual(
    [...new Set(all)].filter((status) => status !== 200 && status !== 503),
    [],
  )
  const { rows } = await (await open()).books(accountId)
  assert.equal(rows.length, all.filter((status) => status === 200).length, 'every reply is charged, and nothing else')
})

it('A32 a stopping service completes a request with an Idempotency-Key whose caller has disconnected', async (t) => {
  const gate = createGate()
  t.after(() => gate.open())
  const { vendor, open } = await openInstances(t, { gate: gate.pass })
  const stopping = await open()
  const { accountId, key } = await stopping.customer()
  const left = new AbortController()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'k' }
  const init = { method: 'POST', headers, body: JSON.stringify(valid) }
  const pending = fetch(`${stopping.url}/v1/generate`, { ...init, signal: left.signal })
  await until(async () => (await stopping.books(accountId)).holds === 1)
  left.abort()
  await assert.rejects(pending)
  await until(() => stopping.app.requestsInFlight() === 0)
  let isClosed = false
  const closing = stopping.close().then(() => (isClosed = true))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.equal(isClosed, false)
  gate.open()
  await closing

  const next = await open()
  const retry = await fetch(`${next.url}/v1/generate`, init)
  assert.deepEqual([retry.status, retry.headers.get('idempotent-replayed')], [200, 'true'])
  const { rows, holds } = await next.books(accountId)
  assert.deepEqual([rows.map(({ stopReason }) => stopReason), holds, vendor.calls], [['complete'], 0, 1])
})

/** Rejects if the connection is reset or closed without a response. */
function post(url: string, key: string, agent: Agent): Promise<{ status: number; connection: string | undefined }> {
  const body = JSON.stringify(valid)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/generate`, { method: 'POST', agent, headers }, (response) => {
      text(response).then(
        () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
        reject,
      )
    })
    sent.on('error', reject)
    // Head and body in two writes, as many clients send them.
    sent.write(body.slice(0, 10))
    setImmediate(() => sent.end(body.slice(10)))
  })
}
