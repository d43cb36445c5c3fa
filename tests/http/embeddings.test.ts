import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import OpenAI from 'openai'
import { at, listAt, valuesOf } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { embeddingsOf, startEmbeddingVendor } from '../support/vendor-embeddings.ts'

let service: Service
const vendor = fixture(() => startEmbeddingVendor())
setUp(async () => {
  const vectors = {
    id: model,
    engine: 'openai',
    kind: 'embeddings',
    endpoints: [{ url: vendor.url }],
    upstream_model: 'm',
    context: 8192,
    price: { input: '0.02' },
  }
  const others = ['numbers', ...malformed.map(([name]) => name.replaceAll(' ', '-'))].map((id) => ({ ...vectors, id }))
  service = await startService({ models: [vectors, upstreamModel(vendor.url), ...others], aliases: { meaning: model } })
  await until(async () => (await service.call('/readyz', undefined)).status === 200)
})
after(() => service.close())
beforeEach(() => {
  vendor.answer = embeddingsOf
})

const model = 'vectors'
/** Answers of the upstream. Each has a model of its own, whose circuit breaker counts no other failures. */
const malformed = [
  ['too few vectors', [[1, 2]]],
  ['texts instead of numbers', [['a'], ['b']]],
  ['vectors of different lengths', [[1], [1, 2]]],
  ['an empty vector', [[], []]],
  ['base64 of half a number', ['AAA=', 'AAA=']],
  ['text that is not base64', ['AAAA*AA==', 'AAAAAA==']],
  ['base64 of something that is not a number', ['AADAfw==', 'AADAfw==']],
] as const
const clientOf = (key: string) => new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
const embed = (key: string | undefined, body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  service.call('/v1/embeddings', key, { model, input: 'One', ...body }, headers)

describe("Embeddings in OpenAI's form", () => {
  it('serve the official client, which asks for base64, and charge the input that the upstream reports', async () => {
    const { accountId, key } = await service.customer()
    const { data, request_id, response } = await clientOf(key)
      .embeddings.create({ model, input: ['One', 'Two'], dimensions: 3, user: 'someone' })
      .withResponse()
    assert.deepEqual(
      data.data.map(({ index, embedding }) => [index, embedding]),
      [
        [0, [0, 0.5, -0.25]],
        [1, [1, 0.5, -0.25]],
      ],
    )
    assert.deepEqual(data.usage, { prompt_tokens: 9, total_tokens: 9 })
    assert.equal(data.model, model)
    assert.deepEqual(vendor.calls.at(-1), {
      model: 'm',
      input: ['One', 'Two'],
      dimensions: 3,
      encoding_format: 'base64',
    })
    assert.equal(response.headers.get('x-cost'), '0.00000018')
    assert.ok(response.headers.get('x-ratelimit-remaining-tokens'))
    const { rows } = await service.books(accountId)
    assert.deepEqual(
      rows.map((row) => [row.requestId, row.inputTokens, row.outputTokens]),
      [[request_id, 9, 0]],
    )
  })

  const numbers = [0, 0.5, -0.25]
  const base64 = Buffer.from(new Float32Array(numbers).buffer).toString('base64')
  for (const [form, sent] of [
    ['numbers', numbers],
    ['base64', base64],
  ] as const) {
    it(`are in the form that was asked for when the upstream answers with ${form}`, async () => {
      const { key } = await service.customer()
      vendor.answer = () => answerWith([sent])
      assert.deepEqual((await embed(key)).json['data'], [{ object: 'embedding', index: 0, embedding: numbers }])
      const asBase64 = await embed(key, { encoding_format: 'base64' })
      assert.deepEqual(asBase64.json['data'], [{ object: 'embedding', index: 0, embedding: base64 }])
    })
  }

  it('are requested as base64, which is read in a tenth of the time, and have the numbers of the 32-bit floats', async () => {
    const { key } = await service.customer()
    const floats = new Float32Array([0.1, -1e-30, 3.4e38, 0, 1 / 3])
    vendor.answer = () => answerWith([Buffer.from(floats.buffer).toString('base64')])
    const { json } = await embed(key)
    assert.deepEqual(at(json, 'data', 0, 'embedding'), [...floats])
    assert.equal(vendor.calls.at(-1)?.['encoding_format'], 'base64')
  })

  it('are requested as numbers from an upstream that refuses base64, without a second attempt from then on', async () => {
    const { accountId, key } = await service.customer()
    vendor.answer = (body) => (body['encoding_format'] === 'base64' ? { status: 400, body: {} } : answerWith([numbers]))
    const called = vendor.calls.length
    for (const [encoding_format, expected, calls] of [
      ['base64', base64, 2],
      ['float', numbers, 3],
    ] as const) {
      const { json } = await embed(key, { model: 'numbers', encoding_format })
      assert.deepEqual(at(json, 'data', 0, 'embedding'), expected)
      assert.equal(vendor.calls.length, called + calls)
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [2, 0])
  })

  it('are written in pieces where they are many, so that other requests are served', async () => {
    const { key } = await service.customer()
    const input = Array.from({ length: 300 }, () => 'One')
    const floats = Float32Array.from({ length: 1536 }, (_, index) => Math.sin(index))
    const text = Buffer.from(floats.buffer).toString('base64')
    vendor.answer = () => answerWith(input.map(() => text))
    for (const [encoding_format, expected] of [
      ['float', [...floats]],
      ['base64', text],
    ] as const) {
      const { status, json } = await embed(key, { input, encoding_format })
      assert.equal(status, 200)
      assert.equal(at(json, 'object'), 'list')
      assert.deepEqual(
        listAt(json, 'data'),
        input.map((_, index) => ({ object: 'embedding', index, embedding: expected })),
      )
      assert.deepEqual(json['usage'], { prompt_tokens: 9, total_tokens: 9 })
    }
  })

  it('are in the order of the texts, whatever the order of the upstream', async () => {
    const { key } = await service.customer()
    vendor.answer = () => ({
      status: 200,
      body: { data: [2, 0, 1].map((index) => ({ index, embedding: [index] })), usage: { total_tokens: 3 } },
    })
    const { json } = await embed(key, { input: ['a', 'b', 'c'] })
    assert.deepEqual(valuesOf(listAt(json, 'data'), 'embedding'), [[0], [1], [2]])
    assert.deepEqual(json['usage'], { prompt_tokens: 3, total_tokens: 3 })
  })

  it('are in the order of an upstream that writes no indexes', async () => {
    const { key } = await service.customer()
    vendor.answer = () => ({ status: 200, body: { data: [[4], [2]].map((embedding) => ({ embedding })) } })
    const { json } = await embed(key, { input: ['a', 'b'] })
    assert.deepEqual(
      listAt(json, 'data').map((each) => [at(each, 'index'), at(each, 'embedding')]),
      [
        [0, [4]],
        [1, [2]],
      ],
    )
  })

  it('refuse bad input by name, before anything is held', async () => {
    const { accountId, key } = await service.customer()
    const called = vendor.calls.length
    const faults: [object, string][] = [
      [{ model: 'fast', input: 'One' }, 'model'],
      [{ model }, 'input'],
      [{ model, input: '' }, 'input'],
      [{ model, input: [] }, 'input'],
      [{ model, input: [1, 2] }, 'input'],
      [{ model, input: [[1, 2]] }, 'input'],
      [{ model, input: Array.from({ length: 2049 }, () => 'a') }, 'input'],
      [{ model, input: 'One', dimensions: 0 }, 'dimensions'],
      [{ model, input: ['One', ''] }, 'input[1]'],
      [{ model, input: 'a\u0000b' }, 'input'],
      [{ model, input: 'One', encoding_format: 'int8' }, 'encoding_format'],
    ]
    for (const [body, param] of faults) {
      const { status, error, text } = await service.call('/v1/embeddings', key, body)
      assert.deepEqual([status, error['type'], error['param']], [400, 'invalid_request_error', param], text)
    }
    const unstored = await embed(key, {}, { 'idempotency-key': 'k' })
    assert.deepEqual([unstored.status, unstored.error['param']], [400, 'Idempotency-Key'])
    assert.equal(vendor.calls.length, called)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
  })

  for (const [name, embeddings] of malformed) {
    it(`charge nothing for an answer with ${name}`, async () => {
      const { accountId, key } = await service.customer()
      vendor.answer = () => answerWith(embeddings)
      const { status, error } = await embed(key, { model: name.replaceAll(' ', '-'), input: ['One', 'Two'] })
      assert.deepEqual([status, error['type'], error['code']], [502, 'server_error', 'upstream_failed'])
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds], [0, 0])
    })
  }

  it('charge nothing for a refusal of the upstream, and name a text that is too long', async () => {
    const { accountId, key } = await service.customer()
    vendor.answer = () => ({ status: 400, body: { error: { message: "The model's maximum context length is 8192." } } })
    const long = await embed(key)
    assert.deepEqual([long.status, long.error['code'], long.error['param']], [400, 'context_length_exceeded', 'input'])
    vendor.answer = () => ({ status: 401, body: {} })
    assert.equal((await embed(key)).status, 502)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
  })

  it('charge what the upstream counts beyond the hold only as far as the credit goes', async () => {
    const { accountId, key } = await service.customer({ credit: 20_000n * 1000n })
    vendor.answer = () => answerWith([[1]], 5000)
    const { status, headers } = await embed(key)
    const { rows, holds, creditLeft } = await service.books(accountId)
    assert.deepEqual([status, holds, creditLeft], [200, 0, 0n])
    assert.deepEqual([headers.get('x-cost'), rows.length, rows[0]?.inputTokens], ['0.00002', 1, 1000])
  })

  it('charge an estimate where the upstream reports no usage, and where the caller disconnects', async () => {
    const { accountId, key } = await service.customer()
    vendor.answer = () => ({ status: 200, body: { data: [{ embedding: [1] }] } })
    assert.deepEqual((await embed(key, { input: 'x'.repeat(400) })).json['usage'], {
      prompt_tokens: 100,
      total_tokens: 100,
    })
    vendor.answer = () => 'nothing'
    const [called, left] = [vendor.calls.length, new AbortController()]
    const asked = clientOf(key).embeddings.create({ model, input: 'y'.repeat(80) }, { signal: left.signal })
    await until(() => vendor.calls.length === called + 1)
    left.abort()
    await assert.rejects(asked)
    await until(async () => (await service.books(accountId)).rows.length === 2)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([new Set(rows.map(({ inputTokens }) => inputTokens)), holds], [new Set([100, 20]), 0])
  })

  it("are refused without a key, without credit and beyond a limit, in OpenAI's form and without a call", async () => {
    const called = vendor.calls.length
    const unknown = await embed('sk_wrong')
    assert.deepEqual([unknown.status, unknown.error['code']], [401, 'invalid_api_key'])
    const poor = await embed((await service.customer({ credit: 1n })).key)
    assert.deepEqual([poor.status, poor.error['type'], poor.error['param']], [402, 'insufficient_quota', 'input'])
    assert.match(String(poor.error['message']), /lower the number of texts/)
    const small = await embed((await service.customer({ tokensPerMinute: 5 })).key)
    assert.deepEqual([small.status, small.error['code']], [400, 'can_never_fit_limit'])
    assert.doesNotMatch(String(small.error['message']), /max_output_tokens/)
    assert.equal(vendor.calls.length, called)
    const { key } = await service.customer({ requestsPerMinute: 1 })
    assert.equal((await embed(key)).status, 200)
    const limited = await embed(key)
    assert.deepEqual([limited.status, limited.error['type']], [429, 'rate_limit_error'])
  })
})

describe('A model of embeddings', () => {
  it('is refused by every call for text, before anything is counted or held', async () => {
    const { accountId, key } = await service.customer({ requestsPerMinute: 1 })
    const messages = [{ role: 'user', content: 'One' }]
    for (const [url, body] of [
      ['/v1/generate', { input: 'One', max_output_tokens: 5 }],
      ['/v1/count_tokens', { input: 'One', max_output_tokens: 5 }],
      ['/v1/chat/completions', { messages }],
      ['/v1/responses', { input: 'One' }],
      ['/v1/messages', { messages, max_tokens: 5 }],
    ] as const) {
      const { status, text } = await service.call(url, key, { model, ...body })
      assert.equal(status, 400, `${url}: ${text}`)
      assert.match(text, /This is an embedding model: call it at POST \/v1\/embeddings\./)
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
    assert.equal((await embed(key)).status, 200, 'no request was taken from the limit')
  })

  it('is listed with its kind, and served only to keys that may use it', async () => {
    const { key } = await service.customer({}, { allowedModels: ['meaning'] })
    const { json } = await service.call('/v1/models', key)
    assert.deepEqual(
      listAt(json, 'data').map((each) =>
        ['id', 'kind', 'max_output_tokens', 'capabilities'].map((name) => at(each, name)),
      ),
      [[model, 'embeddings', 0, []]],
    )
    assert.equal((await embed(key, { model: 'meaning' })).status, 200)
    const other = await service.customer({}, { allowedModels: ['fast'] })
    const refused = await embed(other.key)
    assert.deepEqual([refused.status, refused.error['code']], [403, 'model_not_allowed'])
  })

  it('appears in usage by model and by tag', async () => {
    const { key } = await service.customer()
    assert.equal((await embed(key, { metadata: { project: 'search', team: null } })).status, 200)
    const byModel = await service.call('/v1/usage?by=model', key)
    assert.match(byModel.text, /"model":"vectors"/)
    assert.match(byModel.text, /"input_tokens":9,"output_tokens":0/)
    assert.match((await service.call('/v1/usage?by=tag&tag=project', key)).text, /search/)
  })
})

const answerWith = (embeddings: readonly unknown[], tokens = 9) => ({
  status: 200,
  body: {
    object: 'list',
    data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    usage: { prompt_tokens: tokens },
  },
})
