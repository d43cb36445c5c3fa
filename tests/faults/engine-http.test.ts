import assert from 'node:assert/strict'
import path from 'node:path'
import { after, it } from 'node:test'
import { engines } from '../support/engine-processes.ts'
import { readEvents, type ReceivedEvent } from '../support/events.ts'
import { at } from '../support/json.ts'
import { writeEndlessModel } from '../support/engine.ts'
import { shippedModel, startService, upstreamModel, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'
import { settle } from '../support/clock.ts'
import { setUp, temporaryFolder } from '../support/fixture.ts'

const folder = temporaryFolder()
let vendor: Vendor
let service: Service
setUp(async () => {
  const file = path.join(folder, 'endless.gguf')
  await writeEndlessModel(file)
  vendor = await startVendor()
  service = await startService({ models: [shippedModel({ file }), upstreamModel(vendor.url)] })
  await until(isReady)
})
after(async () => {
  await service.close()
  await vendor.close()
})

const isReady = async () => at((await service.call('/readyz', undefined)).json, 'checks', 'models', 'tiny') === true

const body = { model: 'tiny', input: 'Tell a long story.', max_output_tokens: 512 }

async function* events(key: string): AsyncGenerator<ReceivedEvent> {
  const response = await service.post('/v1/generate', key, { ...body, stream: true })
  yield* readEvents(response)
}

/** Three callers waiting for a whole reply and three reading a stream; the engine is stopped before any is complete. */
async function stopped() {
  for (let tries = 1; ; tries++) {
    const [whole, streaming] = [await service.customer(), await service.customer()]
    const waiting = Array.from({ length: 3 }, () => service.call('/v1/generate', whole.key, body))
    const begun = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
    const streams = begun.map(async ({ resolve }) => {
      const all: ReceivedEvent[] = []
      for await (const event of events(streaming.key)) {
        all.push(event)
        resolve()
      }
      return all
    })
    let ended = 0
    for (const each of [...waiting, ...streams]) void each.then(() => ended++)
    await Promise.all(begun.map(({ promise }) => promise))
    await until(async () => ended > 0 || (await service.books(whole.accountId)).holds === 3)
    const [pid, ...others] = engines()
    assert.ok(pid !== undefined && others.length === 0)
    process.kill(pid, 'SIGSTOP')
    await settle()
    if (ended === 0) return { whole, streaming, waiting, streams, pid }
    // The engine was scheduled and this process was not.
    assert.ok(tries < 10, `${ended} have ended`)
    process.kill(pid, 'SIGCONT')
    await Promise.all([...waiting, ...streams])
  }
}

it('A10 when an engine is killed, only text already sent is charged, other models keep working, and the engine comes back', async () => {
  const { whole, streaming, waiting, streams, pid } = await stopped()
  process.kill(pid, 'SIGKILL')
  assert.equal((await service.call('/v1/generate', whole.key, { ...body, model: 'fast' })).status, 200)

  for (const { status, error, headers } of await Promise.all(waiting)) {
    assert.deepEqual([status, error['code']], [503, 'unavailable'])
    assert.ok(Number(headers.get('retry-after')) >= 1)
  }
  const told = await Promise.all(streams)
  for (const all of told) {
    assert.equal(all.at(-1)?.name, 'error')
    assert.equal(at(JSON.parse(all.at(-1)?.data ?? ''), 'error', 'code'), 'unavailable')
    assert.ok(all.slice(0, -1).every(({ name }) => name === 'output_text.delta'))
  }
  // Requests in the meantime wait for it for a few seconds.
  await until(async () => {
    const next = await service.call('/v1/generate', whole.key, { ...body, max_output_tokens: 4 })
    if (next.status === 200) return true
    assert.equal(next.error['code'], 'unavailable', next.text)
    return false
  })
  assert.ok(await isReady())

  const books = await service.books(streaming.accountId)
  assert.deepEqual([books.holds, books.held, books.rows.length], [0, 0n, 3])
  for (const { stopReason, usageSource, inputTokens, outputTokens } of books.rows) {
    assert.deepEqual([stopReason, usageSource], ['error', 'model'])
    assert.ok(inputTokens > 5 && outputTokens > 0 && outputTokens < 512, `${inputTokens} and ${outputTokens} tokens`)
  }
  const { rows, holds } = await service.books(whole.accountId)
  assert.deepEqual([rows.map(({ model }) => model).toSorted(), holds], [['fast', 'tiny'], 0])
})
