import assert from 'node:assert/strict'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import OpenAI from 'openai'
import { smallEmbedder, writeEmbeddingModel } from '../support/embedding-model.ts'
import { at, listAt } from '../support/json.ts'
import { localEmbedder, startService, type Service } from '../support/service.ts'
import { setUp, temporaryFolder } from '../support/fixture.ts'

const folder = temporaryFolder()
let service: Service
setUp(async () => {
  const file = path.join(folder, 'embedder.gguf')
  await writeEmbeddingModel(file)
  service = await startService({
    models: [localEmbedder(file), localEmbedder(file, { id: 'narrow', parallel: 1, dimensions: [16] })],
    aliases: { meaning: 'embedder' },
  })
  await service.untilReady()
})
after(() => service.close())

const model = 'embedder'
const { context, width } = smallEmbedder
const full = 'a '.repeat(context - 2)
const embed = (key: string, body: object) => service.call('/v1/embeddings', key, { model, ...body })
const numbersOf = (json: unknown, index: number): number[] => listAt(json, 'data', index, 'embedding').map(Number)

describe('Embeddings of a local model', () => {
  it('serve the official client in both encodings, and charge the tokens that were counted', async () => {
    const { accountId, key } = await service.customer()
    const client = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
    const input = ['the client', 'is writing [SEP]']
    const { data, request_id, response } = await client.embeddings.create({ model: 'meaning', input }).withResponse()
    const tokens = 4 + (2 + 2 + 5 + 5)
    assert.deepEqual(data.usage, { prompt_tokens: tokens, total_tokens: tokens })
    assert.equal(data.model, model)
    const asNumbers = await embed(key, { input, encoding_format: 'float' })
    for (const [index, { embedding }] of data.data.entries()) {
      assert.deepEqual(embedding, numbersOf(asNumbers.json, index))
      assert.equal(embedding.length, width)
      assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-6)
    }
    assert.equal(response.headers.get('x-cost'), '0.00000036')
    const { rows, holds, charged } = await service.books(accountId)
    assert.deepEqual([rows.length, holds, charged], [2, 0, 2n * BigInt(tokens) * 20_000n])
    const row = rows.find(({ requestId }) => requestId === request_id)
    assert.deepEqual([row?.inputTokens, row?.outputTokens, row?.usageSource], [tokens, 0, 'model'])
  })

  it('refuse a text that does not fit the context with both numbers and its place, before anything is held', async () => {
    const { accountId, key } = await service.customer({ requestsPerMinute: 1 })
    const long = `${full}a`
    for (const [input, param] of [
      [long, 'input'],
      [[full, 'a', long], 'input[2]'],
    ] as const) {
      const { status, error } = await embed(key, { input })
      assert.deepEqual([status, error['code'], error['param']], [400, 'context_length_exceeded', param])
      assert.match(String(error['message']), new RegExp(`is ${context} tokens.* has ${context + 1}\\.`))
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
    const fits = await embed(key, { input: [full, full] })
    assert.deepEqual([fits.status, at(fits.json, 'usage', 'prompt_tokens')], [200, 2 * context], fits.text)
  })

  it('have another length only where the configuration allows it, and no call is charged for asking', async () => {
    const { accountId, key } = await service.customer()
    const refused = await embed(key, { input: 'the client', dimensions: 16 })
    assert.deepEqual([refused.status, refused.error['param']], [400, 'dimensions'])
    assert.match(String(refused.error['message']), new RegExp(`must be ${width} for this model, or omitted`))
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
    assert.equal((await embed(key, { input: 'the client', dimensions: width })).status, 200)
    const cut = await embed(key, { model: 'narrow', input: 'the client', dimensions: 16 })
    assert.equal(numbersOf(cut.json, 0).length, 16)
  })

  it('are refused without credit and beyond a limit, by the exact count', async () => {
    const tokens = 4
    const price = 20_000n
    const poor = await service.customer({ credit: BigInt(tokens) * price - 1n })
    assert.equal((await embed(poor.key, { input: 'the client' })).status, 402)
    const rich = await service.customer({ credit: BigInt(tokens) * price })
    assert.equal((await embed(rich.key, { input: 'the client' })).status, 200)
    assert.equal((await service.books(rich.accountId)).creditLeft, 0n)
    const small = await service.customer({ tokensPerMinute: tokens - 1 })
    assert.equal((await embed(small.key, { input: 'the client' })).error['code'], 'can_never_fit_limit')
    for (const { accountId } of [poor, small]) assert.equal((await service.books(accountId)).rows.length, 0)
  })
})
