import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { assertBetween } from '../support/clock.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: ['fast', 'other', 'of/a:vendor'].map((id) => upstreamModel(vendor.url, { id })),
    aliases: { quick: 'fast' },
  }),
)

const clientOf = (key: string, options: object = {}) =>
  new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0, ...options })
const messages = [
  { role: 'system', content: 'Answer.' },
  { role: 'user', content: [{ type: 'text', text: 'One' }] },
  { role: 'assistant', content: 'Two' },
  { role: 'user', content: 'Three' },
] satisfies OpenAI.ChatCompletionMessageParam[]
const chat = { model: 'fast', messages, max_tokens: 100 }

/** The vendor counts 12 tokens and writes 3. */
const usage = {
  prompt_tokens: 12,
  completion_tokens: 3,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
}

describe("OpenAI's official client", () => {
  it('A30 completes a chat for one charge and passes the whole conversation to the model', async () => {
    const { accountId, key } = await service.customer({ own: true })
    const clientId = await service.client()
    const began = Date.now()
    const { data, request_id } = await clientOf(key)
      .chat.completions.create({ ...chat, temperature: 0.5, seed: 7, stop: '\n\n', metadata: { client_id: clientId } })
      .withResponse()
    assert.equal(data.choices[0]?.message.content, 'Hello there.')
    assert.equal(data.choices[0]?.finish_reason, 'stop')
    assert.deepEqual(data.usage, usage)
    assert.equal(data.model, 'fast')
    assertBetween(new Date(data.created * 1000), began)
    const { rows } = await service.books(accountId)
    assert.deepEqual(
      rows.map((row) => [row.requestId, row.inputTokens, row.outputTokens, row.clientId]),
      [[request_id, 12, 3, clientId]],
    )
    const body = JSON.stringify(vendor.last.body)
    assert.match(
      body,
      /"system","content":"Answer."},{"role":"user","content":"One"},{"role":"assistant","content":"Two"/,
    )
    assert.match(body, /"max_tokens":100,"temperature":0.5,"seed":7,"stop":\["\\n\\n"\]/)
  })

  it('A30 streams a chat, with usage on request', async () => {
    const { accountId, key } = await service.customer()
    const stream = await clientOf(key).chat.completions.create({
      ...chat,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(stream)
    assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hello there.')
    assert.deepEqual(chunks.at(-1)?.usage, usage)
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop')
    const bare = await Array.fromAsync(await clientOf(key).chat.completions.create({ ...chat, stream: true }))
    assert.ok(bare.every((chunk) => chunk.usage === undefined && chunk.choices.length === 1))
    const final = await clientOf(key).chat.completions.stream(chat).finalChatCompletion()
    assert.equal(final.choices[0]?.message.content, 'Hello there.')
    assert.equal((await service.books(accountId)).rows.length, 3)
  })

  it('A30 creates a response, whole and streamed, and accepts its output as part of a conversation', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const asked = { model: 'fast', instructions: 'Answer.', input: 'Hello', max_output_tokens: 50 }
    const whole = await client.responses.create(asked)
    assert.deepEqual([whole.output_text, whole.status], ['Hello there.', 'completed'])
    assert.deepEqual([whole.usage?.input_tokens, whole.usage?.output_tokens, whole.usage?.total_tokens], [12, 3, 15])
    const streaming = client.responses.stream(asked)
    const types: string[] = []
    let text = ''
    for await (const event of streaming) {
      assert.equal(event.sequence_number, types.length)
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    assert.deepEqual(
      [...new Set(types)],
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ],
    )
    assert.deepEqual([text, (await streaming.finalResponse()).output_text], ['Hello there.', 'Hello there.'])
    const said = whole.output.filter((item) => item.type === 'message')
    await client.responses.create({ ...asked, input: [...said, { role: 'user', content: 'And now?' }] })
    assert.match(
      JSON.stringify(vendor.last.body),
      /"assistant","content":"Hello there."},{"role":"user","content":"And/,
    )
    assert.equal((await service.books(accountId)).rows.length, 3)
  })

  it('A30 retrieves a model by id or alias', async () => {
    const { accountId, key } = await service.customer({}, { allowedModels: ['fast', 'of/a:vendor'] })
    const client = clientOf(key)
    const { data, response } = await client.models.retrieve('fast').withResponse()
    assert.deepEqual([data.id, data.object, data.owned_by], ['fast', 'model', 'tollgate'])
    assert.deepEqual(data, (await client.models.list()).data[0])
    assert.equal(response.headers.get('x-request-id'), response.headers.get('request-id'))
    assert.ok(response.headers.has('x-ratelimit-remaining-requests'))
    assert.equal((await client.models.retrieve('quick')).id, 'fast')
    // The Python client does not encode the slash.
    assert.equal((await client.models.retrieve('of/a:vendor')).id, 'of/a:vendor')
    assert.equal((await service.call('/v1/models/of/a:vendor', key)).json['id'], 'of/a:vendor')
    assert.deepEqual((await service.call('/v1/models/', key)).json, (await service.call('/v1/models', key)).json)
    const unknown = await client.models.retrieve('fsat').catch((error: unknown) => error)
    assert.ok(unknown instanceof OpenAI.NotFoundError)
    assert.deepEqual([unknown.code, unknown.type, unknown.param], ['model_not_found', 'not_found_error', 'model'])
    assert.match(unknown.message, /There is no model with this name. Did you mean fast\?/)
    await assert.rejects(client.models.retrieve('other'), OpenAI.PermissionDeniedError)
    await assert.rejects(clientOf('tg_wrong').models.retrieve('fast'), OpenAI.AuthenticationError)
    await assert.rejects(client.models.retrieve('../messages'), OpenAI.NotFoundError)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
  })

  it('A30 throws its typed errors, with advice', async () => {
    const { key } = await service.customer()
    const client = clientOf(key)
    await assert.rejects(clientOf('tg_wrong').chat.completions.create(chat), OpenAI.AuthenticationError)
    await assert.rejects(client.chat.completions.create({ ...chat, model: 'none' }), OpenAI.NotFoundError)
    await assert.rejects(client.responses.create({ model: 'fast', input: '' }), OpenAI.BadRequestError)
    const none = await service.customer({ credit: 0n })
    await assert.rejects(clientOf(none.key).chat.completions.create(chat), { status: 402 })
    const refusal = await client.chat.completions
      .create({ ...chat, functions: [{ name: 'f', parameters: {} }] })
      .catch((error: unknown) => error)
    assert.ok(refusal instanceof OpenAI.BadRequestError)
    assert.deepEqual(
      [refusal.param, refusal.code, refusal.type],
      ['functions', 'invalid_field', 'invalid_request_error'],
    )
    assert.match(refusal.message, /The field functions has a value that is not supported here/)
    assert.ok(refusal.requestID)
    vendor.set({ fault: 'server_error' })
    await assert.rejects(client.chat.completions.create(chat), OpenAI.InternalServerError)
    vendor.set({})
  })

  it('A30 waits for Retry-After automatically, then succeeds', async () => {
    // One request refills every five seconds.
    const { accountId, key } = await service.customer({ requestsPerMinute: 12 })
    const client = clientOf(key)
    await Promise.all(Array.from({ length: 12 }, () => client.models.list()))
    const asked = Array.from({ length: 16 }, () => client.chat.completions.create(chat))
    const results = await Promise.allSettled(asked)
    const refused = results.filter((result) => result.status === 'rejected')
    assert.ok(refused.length > 0)
    for (const { reason } of refused) assert.ok(reason instanceof OpenAI.RateLimitError)
    let charged = results.length - refused.length + 1
    // Requests refill while the machine computes: takes them until the next one is seconds away.
    for (let wait = 0; wait < 3;) {
      const { status, headers } = await service.call('/v1/chat/completions', key, chat)
      assert.ok(status === 200 || status === 429, `${status}`)
      if (status === 200) charged++
      else wait = Number(headers.get('retry-after'))
    }
    let sent = 0
    const counting: typeof fetch = (...request) => {
      sent++
      return fetch(...request)
    }
    const reply = await clientOf(key, { maxRetries: 2, fetch: counting }).chat.completions.create(chat)
    assert.equal(reply.choices[0]?.message.content, 'Hello there.')
    assert.ok(sent > 1, 'it asked again')
    assert.equal((await service.books(accountId)).rows.length, charged)
  })
})
