import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatMoney } from '../../src/billing/prices/money.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { readEvents } from '../support/events.ts'
import { objectAt, parseObject } from '../support/json.ts'
import { createGate } from '../support/gate.ts'
import { openVendorService } from '../support/vendor-service.ts'

const valid = { model: 'fast', instructions: 'Answer.', input: 'Hello', max_output_tokens: 100 }

const { vendor, service } = openVendorService()

async function untilHeld(accountId: string): Promise<void> {
  await until(async () => (await service.books(accountId)).holds === 1)
}

describe('a generation that fails', () => {
  const upstreamFaults = [
    ['server_error', 'upstream_failed', 502, true],
    ['cut_json', 'upstream_failed', 502, true],
    ['reset', 'upstream_failed', 502, true],
    // Clients need not send a request again that the upstream does not accept.
    ['bad_request', 'upstream_failed', 502, false],
    ['busy', 'overloaded', 503, true],
    ['context_length', 'context_length_exceeded', 400, false],
  ] as const
  for (const [fault, code, status, retry] of upstreamFaults) {
    it(`is charged nothing, and its hold is released (${fault})`, async () => {
      const { accountId, key } = await service.customer()
      vendor.set({ fault })
      const answer = await service.call('/v1/generate', key, valid)
      vendor.set({})
      assert.deepEqual([answer.error['code'], answer.status], [code, status], answer.text)
      const { rows, holds, held, charged } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, held, charged], [0, 0, 0n, 0n])
      assert.equal(answer.headers.get('x-should-retry'), String(retry))
      if (status === 503) assert.ok(Number(answer.headers.get('retry-after')) >= 1)
    })
  }

  it('a reply whose hold was released is neither sent nor charged', async () => {
    const gate = createGate()
    vendor.set({ gate: gate.pass })
    const { accountId, key } = await service.customer()
    const pending = service.call('/v1/generate', key, valid)
    await untilHeld(accountId)
    await service.database.rows('delete from hold where account_id = $1', [accountId])
    await service.database.rows('update account set held = 0 where id = $1', [accountId])
    gate.open()
    const answer = await pending
    vendor.set({})
    assert.deepEqual([answer.status, answer.error['code']], [503, 'unavailable'])
    assert.doesNotMatch(answer.text, /Hello there/)
    const { rows, charged } = await service.books(accountId)
    assert.deepEqual([rows.length, charged], [0, 0n])
  })

  it('A15 a caller who disconnects is charged for the tokens generated, and the model is stopped', async () => {
    vendor.set({ gate: createGate().pass })
    const { calls, abandoned } = vendor
    const { accountId, key } = await service.customer()
    const controller = new AbortController()
    const pending = service.post('/v1/generate', key, valid, { signal: controller.signal })
    // The hold comes before the call, and a caller who leaves between the two is not charged.
    await until(() => vendor.calls > calls)
    controller.abort()
    await assert.rejects(pending)
    await until(async () => (await service.books(accountId)).holds === 0)
    vendor.set({})
    const { rows, held } = await service.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.stopReason, rows[0]?.outputTokens, held], [1, 'cancelled', 0, 0n])
    await until(() => vendor.abandoned === abandoned + 1)
  })
})

/** The events of a stream, and the fields of its last event. */
async function stream(key: string, changes: object) {
  const response = await service.post('/v1/generate', key, { ...valid, stream: true, ...changes })
  const events = await Array.fromAsync(readEvents(response))
  const last = parseObject(events.at(-1)?.data ?? '{}')
  const text = events.map(({ name, data }) => (name === 'output_text.delta' ? parseObject(data)['delta'] : '')).join('')
  return { name: events.at(-1)?.name, last, text, id: response.headers.get('request-id') }
}

describe('an upstream that ignores its bounds', () => {
  const words = Array.from({ length: 50 }, (_, index) => `word${index} `)
  const cases = [
    ['max_tokens', { max_output_tokens: 10 }, words.slice(0, 10).join(''), 'max_output_tokens', 10],
    ['stop', { stop: ['rd7 wo'] }, `${words.slice(0, 7).join('')}wo`, 'stop_sequence', 9],
  ] as const
  for (const [name, body, text, stopReason, outputTokens] of cases) {
    it(`A33 is stopped where a stream exceeds ${name}; only what was sent is charged`, async () => {
      const gate = createGate()
      const abandoned = vendor.abandoned
      const { accountId, key } = await service.customer()
      vendor.set({ tokens: words, gate: gate.pass })
      gate.open(20)
      const reply = await stream(key, body)
      await until(() => vendor.abandoned === abandoned + 1)
      vendor.set({})
      assert.deepEqual([reply.name, reply.text, reply.last['output_text']], ['done', text, text])
      assert.equal(reply.last['stop_reason'], stopReason)
      const { rows, holds } = await service.books(accountId)
      const [row] = rows
      assert.deepEqual([rows.length, holds, row?.stopReason, row?.outputTokens], [1, 0, stopReason, outputTokens])
      assert.deepEqual(reply.last['usage'], { input_tokens: row?.inputTokens, output_tokens: outputTokens })
      assert.equal(row?.usageSource, 'estimated')
    })
  }
})

it('a busy model is an overloaded_error to Anthropic clients', async () => {
  const { key } = await service.customer()
  vendor.set({ fault: 'busy' })
  const body = { model: 'fast', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
  const answer = await service.call('/v1/messages', key, body)
  vendor.set({})
  assert.deepEqual([answer.status, answer.error['type']], [503, 'overloaded_error'])
})

describe('a stream that breaks off', () => {
  it('A14 states in its last event the charge for the text that the caller received', async () => {
    const { accountId, key } = await service.customer()
    vendor.set({ tokens: 9, fault: 'reset', after: 4 })
    const reply = await stream(key, {})
    vendor.set({})
    const { rows, charged } = await service.books(accountId)
    assert.deepEqual([reply.name, objectAt(reply.last, 'error')['code']], ['error', 'upstream_failed'])
    assert.deepEqual([reply.text, rows.length, rows[0]?.stopReason], ['word word word word', 1, 'error'])
    assert.deepEqual(reply.last['usage'], { input_tokens: rows[0]?.inputTokens, output_tokens: 4 })
    assert.deepEqual([reply.last['cost'], rows[0]?.cost], [formatMoney(charged), charged])
    const line = logLine(String(reply.id))
    assert.deepEqual([line['code'], line['status']], ['upstream_failed', 200])
    assert.deepEqual([line['cost'], line['output_tokens']], [reply.last['cost'], 4])
  })

  it('is not charged for text that a timeout withheld from its caller', async () => {
    await using slow = await startService({
      models: [upstreamModel(vendor.url, { timeout: { first_token: '3s', total: '4s' } })],
      databaseUrl: service.databaseUrl,
    })
    const { accountId, key } = await slow.customer()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const gate = createGate()
    vendor.set({ tokens: 9, gate: gate.pass })
    const none = await slow.call('/v1/generate', key, { ...valid, stream: true })
    assert.deepEqual([none.status, none.error['code']], [504, 'upstream_timeout'])
    const whole = await slow.call('/v1/generate', key, valid)
    assert.deepEqual([whole.status, whole.error['code']], [504, 'upstream_timeout'])
    assert.deepEqual((await slow.books(accountId)).rows, [])
    gate.open(3)
    const body = JSON.stringify({ ...valid, stream: true })
    const part = await (await fetch(`${slow.url}/v1/generate`, { method: 'POST', headers, body })).text()
    vendor.set({})
    assert.match(part, /event: error\ndata: .*"upstream_timeout".*"output_tokens":3/)
    const { rows, holds } = await slow.books(accountId)
    assert.deepEqual([rows.length, rows[0]?.outputTokens, rows[0]?.stopReason, holds], [1, 3, 'error', 0])
  })
})

describe('the log line of a request', () => {
  it('states its cost, or its error code', async () => {
    const { key } = await service.customer()
    const good = await service.call('/v1/generate', key, valid)
    const line = logLine(String(good.headers.get('request-id')))
    assert.deepEqual([line['cost'], line['status'], line['code']], [good.headers.get('x-cost'), 200, undefined])
    const bad = await service.call('/v1/generate', key, { ...valid, input: '' })
    const refused = logLine(String(bad.headers.get('request-id')))
    assert.deepEqual([refused['code'], refused['status'], refused['cost']], ['invalid_field', 400, undefined])
  })

  it('contains no text of the caller, nor does any other line, even if the database refuses the text', async () => {
    const secret = 'very private words'
    const { accountId, key } = await service.customer()
    await service.database.rows(
      `alter table idempotency add constraint refused check (coalesce(body, '') !~ 'private')`,
    )
    vendor.set({ text: secret })
    const body = { ...valid, instructions: secret, input: secret, metadata: { team: secret } }
    const answer = await service.call('/v1/generate', key, body, { 'idempotency-key': 'k' })
    vendor.set({})
    await service.database.rows('alter table idempotency drop constraint refused')
    assert.equal(answer.status, 500)
    assert.match(service.logText(), /"constraint":"refused"/)
    assert.doesNotMatch(service.logText(), /private/)
    await until(async () => (await service.books(accountId)).holds === 0)
    assert.deepEqual((await service.books(accountId)).rows, [])
  })
})

/** The log line of one request. */
function logLine(id: string) {
  const lines = service
    .logText()
    .split('\n')
    .filter((line) => line.includes(id) && line.includes('"msg":"request"'))
  assert.equal(lines.length, 1)
  return parseObject(lines[0] ?? '')
}
