import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { assertBetween } from '../support/clock.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() => startService({ models: [upstreamModel(vendor.url), shippedModel()] }))
setUp(() => service.untilReady())

const clientOf = (key: string, options: object = {}) =>
  new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0, ...options })
const asked = {
  model: 'fast',
  max_tokens: 100,
  system: [{ type: 'text', text: 'Answer.' }],
  messages: [
    { role: 'user', content: 'One' },
    { role: 'assistant', content: [{ type: 'text', text: 'Two' }] },
    { role: 'user', content: 'Three' },
  ],
} satisfies Anthropic.MessageCreateParams

// The client's types no longer have these fields, but programs still send them.
const sampling: object = { temperature: 0.5 }
const unserved: object = { top_k: 5 }

const began = Date.now()

describe("Anthropic's official client", () => {
  it('A30 creates a message for one charge and passes the whole conversation to the model', async () => {
    const { accountId, key } = await service.customer()
    const { data, request_id, response } = await clientOf(key)
      .messages.create({ ...asked, ...sampling, stop_sequences: ['END'] })
      .withResponse()
    assert.deepEqual(
      data.content.map((block) => block.type === 'text' && block.text),
      ['Hello there.'],
    )
    assert.deepEqual([data.stop_reason, data.stop_sequence], ['end_turn', null])
    assert.deepEqual([data.usage.input_tokens, data.usage.output_tokens], [12, 3])
    const limit = response.headers.get('anthropic-ratelimit-requests-limit')
    assert.equal(limit, response.headers.get('x-ratelimit-limit-requests'))
    assertBetween(response.headers.get('anthropic-ratelimit-tokens-reset'), began, Date.now() + 60_000)
    const { rows } = await service.books(accountId)
    assert.deepEqual(
      rows.map((row) => [row.requestId, row.inputTokens, row.outputTokens]),
      [[request_id, 12, 3]],
    )
    const body = JSON.stringify(vendor.last.body)
    assert.match(
      body,
      /"system","content":"Answer."},{"role":"user","content":"One"},{"role":"assistant","content":"Two"/,
    )
  })

  it('A30 streams a message', async () => {
    const { accountId, key } = await service.customer()
    const stream = clientOf(key).messages.stream(asked)
    const types: string[] = []
    let text = ''
    stream.on('text', (delta) => (text += delta))
    stream.on('streamEvent', ({ type }) => types.push(type))
    const final = await stream.finalMessage()
    assert.equal(text, 'Hello there.')
    assert.deepEqual([final.usage.input_tokens, final.usage.output_tokens, final.stop_reason], [12, 3, 'end_turn'])
    assert.deepEqual(
      [...new Set(types)].filter((type) => type !== 'ping'),
      [
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ],
    )
    assert.equal((await service.books(accountId)).rows.length, 1)
  })

  it('A30 retrieves a model, and gets a refusal in its own format', async () => {
    const { key } = await service.customer({}, { allowedModels: ['fast'] })
    const client = clientOf(key)
    const { data, response } = await client.models.retrieve('fast').withResponse()
    assert.deepEqual([data.id, data.type, data.display_name], ['fast', 'model', 'fast'])
    assert.deepEqual(data, (await client.models.list()).data[0])
    assert.ok(response.headers.has('anthropic-ratelimit-requests-remaining'))
    const unknown = await client.models.retrieve('none').catch((error: unknown) => error)
    assert.ok(unknown instanceof Anthropic.NotFoundError)
    assert.match(unknown.message, /"type":"not_found_error","message":"There is no model with this name/)
    assert.ok(unknown.requestID)
    await assert.rejects(client.models.retrieve('tiny'), Anthropic.PermissionDeniedError)
    const { models } = clientOf('tg_wrong')
    for (const ask of [() => models.retrieve('fast'), () => models.list()]) {
      const refusal: unknown = await ask().then(undefined, (error: unknown) => error)
      assert.ok(refusal instanceof Anthropic.AuthenticationError)
      assert.match(refusal.message, /"type":"authentication_error"/)
    }
    const own = await service.call('/v1/models', undefined)
    assert.deepEqual([own.status, own.error['code']], [401, 'missing_key'])
  })

  it('sends the key in either header; x-api-key is accepted only on the routes of these clients', async () => {
    const { key } = await service.customer()
    const other = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    const statusOf = async (address: string, body?: object) =>
      (await service.call(address, undefined, body, other)).status
    assert.equal(await statusOf('/v1/messages', asked), 200)
    assert.equal(await statusOf('/v1/models'), 200)
    assert.equal(await statusOf('/v1/chat/completions', asked), 401)
    assert.equal(await statusOf('/v1/generate', asked), 401)
    // Some clients send the other header without a value.
    const both = await service.call('/v1/messages', undefined, asked, { ...other, authorization: '' })
    assert.equal(both.status, 200)
    const wrong = await service.call('/v1/messages', undefined, asked, { 'x-api-key': 'tg_wrong' })
    assert.deepEqual([wrong.status, wrong.error['type']], [401, 'authentication_error'])
    const bearer = new Anthropic({ authToken: key, apiKey: null, baseURL: service.url })
    assert.equal((await bearer.messages.create(asked)).type, 'message')
  })

  it('A30 throws its typed errors, with advice', async () => {
    const { key } = await service.customer()
    const client = clientOf(key)
    await assert.rejects(clientOf('tg_wrong').messages.create(asked), Anthropic.AuthenticationError)
    await assert.rejects(client.messages.create({ ...asked, model: 'none' }), Anthropic.NotFoundError)
    const poor = await service.customer({ requestsPerMinute: 1 })
    await clientOf(poor.key).messages.create(asked)
    await assert.rejects(clientOf(poor.key).messages.create(asked), Anthropic.RateLimitError)
    const refusal = await client.messages.create({ ...asked, ...unserved }).catch((error: unknown) => error)
    assert.ok(refusal instanceof Anthropic.BadRequestError)
    assert.match(refusal.message, /invalid_request_error.*The model fast does not take the field top_k/)
    assert.ok(refusal.requestID)
    const browser = await service.call('/v1/messages', key, asked, { origin: 'https://example.com' })
    assert.deepEqual([browser.status, browser.json['type'], browser.error['type']], [403, 'error', 'permission_error'])
    const malformed = await service.call('/v1/messages', key, '{')
    assert.deepEqual([malformed.status, malformed.error['type']], [400, 'invalid_request_error'])
  })

  it('A30 retries automatically when the service advises it', async () => {
    const { accountId, key } = await service.customer()
    vendor.set({ delay: 2500 })
    const one = { 'idempotency-key': 'k' }
    const first = service.call('/v1/messages', key, asked, one)
    await until(async () => (await service.books(accountId)).holds === 1)
    vendor.set({})
    const { data, response } = await clientOf(key, { maxRetries: 8 })
      .messages.create(asked, { headers: one })
      .withResponse()
    assert.equal(response.headers.get('idempotent-replayed'), 'true')
    assert.equal(data.id, (await first).json['id'])
    assert.equal((await service.books(accountId)).rows.length, 1)
  })

  it('A30 works with a local model, which states the input tokens at the start of a stream', async () => {
    const { key } = await service.customer()
    const body = { ...asked, model: 'tiny', max_tokens: 20 }
    const whole = await clientOf(key).messages.create(body)
    const stream = await clientOf(key).messages.create({ ...body, stream: true })
    const [start] = await Array.fromAsync(stream)
    assert.ok(start?.type === 'message_start')
    assert.equal(start.message.usage.input_tokens, whole.usage.input_tokens)
  })
})
