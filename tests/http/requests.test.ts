import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { problems, type ProblemCode } from '../../src/platform/problems.ts'
import type { Answer } from '../support/answer.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { at } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { startVendor } from '../support/vendor.ts'
import { until } from '../support/until.ts'
import { openWire } from '../support/wire.ts'
import { ok } from '../support/answer.ts'

const valid = { model: 'fast', instructions: 'Answer.', input: 'Hello', max_output_tokens: 100 }

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [
      upstreamModel(vendor.url),
      upstreamModel(vendor.url, { id: 'short', context: 128, max_output_tokens: 100 }),
    ],
    aliases: { quick: 'fast' },
    requestBytes: '64KiB',
  }),
)
const customer = fixture(() => service.customer())

const generate = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  service.call('/v1/generate', customer.key, body, headers)

/** Checks a refusal, and that nothing was charged or held and no model was called. */
async function assertRefused(act: () => Promise<Answer>, code: ProblemCode, field?: string): Promise<Answer> {
  const booksBefore = await service.books(customer.accountId)
  const calls = vendor.calls
  const answer = await act()
  assert.equal(answer.error['code'], code, answer.text)
  assert.equal(answer.status, problems[code].status)
  assert.equal(answer.error['field'], field)
  assert.equal(answer.error['request_id'], answer.headers.get('request-id'))
  assert.deepEqual(await service.books(customer.accountId), booksBefore)
  assert.equal(booksBefore.holds, 0)
  assert.equal(vendor.calls, calls)
  return answer
}

describe('POST /v1/generate', () => {
  it('A1 returns exactly the fields of the specification, and charges for it', async () => {
    const { accountId, key } = await service.customer()
    const answer = await service.call('/v1/generate', key, valid)
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers.get('content-type')), /^application\/json/)
    assert.deepEqual(answer.json, {
      output_text: 'Hello there.',
      stop_reason: 'complete',
      usage: { input_tokens: 12, output_tokens: 3 },
    })
    assert.equal(answer.headers.get('x-model'), 'fast')
    assert.equal(answer.headers.get('x-cost'), '0.0000036')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const { rows, holds } = await service.books(accountId)
    assert.equal(holds, 0)
    assert.deepEqual(
      rows.map((row) => [row.requestId, row.inputTokens, row.outputTokens, row.stopReason, row.usageSource, row.model]),
      [[answer.headers.get('request-id'), 12, 3, 'complete', 'upstream', 'fast']],
    )
  })

  it('A1 passes texts and parameters to the model unchanged', async () => {
    const input = 'Zeile 1\r\n\t"Grüße" 👋🏽 \u2028 <|im_end|>'
    await generate({ ...valid, input, temperature: 0.5, top_p: 0.9, seed: 7, stop: ['\n\n'] })
    assert.deepEqual(vendor.last.body, {
      model: 'm',
      messages: [
        { role: 'system', content: 'Answer.' },
        { role: 'user', content: input },
      ],
      max_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      stop: ['\n\n'],
    })
  })

  it('A1 needs no instructions, and accepts an alias', async () => {
    const answer = await generate({ model: 'quick', input: 'Hello', max_output_tokens: 1 })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('x-model'), 'fast')
    assert.deepEqual(at(vendor.last.body, 'messages'), [{ role: 'user', content: 'Hello' }])
  })

  it('A5 lets an upstream decide whether a prompt fits if Tollgate knows only a bound', async () => {
    ok(await generate({ ...valid, model: 'short', max_output_tokens: 100 }))
  })

  const faults: readonly (readonly [string, unknown, ProblemCode, string?])[] = [
    ['without model', { ...valid, model: undefined }, 'missing_field', 'model'],
    ["with more than the model's maximum", { ...valid, max_output_tokens: 4097 }, 'invalid_field', 'max_output_tokens'],
    ['with blank input', { ...valid, input: ' \n ' }, 'invalid_field', 'input'],
    ['with an unknown field', { ...valid, temprature: 1 }, 'unknown_field', 'temprature'],
    ['for an unknown model', { ...valid, model: 'none' }, 'unknown_model', 'model'],
    ['for a model called __proto__', { ...valid, model: '__proto__' }, 'unknown_model', 'model'],
    ['with an empty body', '', 'malformed_json'],
    ['with too large a body', { ...valid, input: 'x'.repeat(65_536) }, 'request_too_large'],
  ]
  for (const [name, body, code, field] of faults) {
    it(`A2 refuses a request ${name}`, async () => {
      const answer = await assertRefused(() => generate(body), code, field)
      assert.equal(answer.headers.get('x-should-retry'), 'false')
      assert.ok(Number(answer.headers.get('x-ratelimit-limit-requests')) > 0, 'the response has the limits')
    })
  }

  it('A2 charges nothing for a truncated body, and calls no model', async () => {
    const { accountId, key } = await service.customer()
    const calls = vendor.calls
    const wire = await openWire(service.port)
    wire.send(
      `POST /v1/generate HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: 500\r\n\r\n${JSON.stringify(valid)}`,
    )
    await until(() => service.app.requestsInFlight() > 0)
    wire.cut()
    await until(() => service.app.requestsInFlight() === 0)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds, vendor.calls - calls], [0, 0, 0])
  })

  it('A2 names the first of several errors: key before body, body before model', async () => {
    const answer = await service.call('/v1/generate', undefined, '{')
    assert.equal(answer.error['code'], 'missing_key')
    await assertRefused(() => generate({ ...valid, model: 'none', input: 5 }), 'invalid_field', 'input')
  })
})
