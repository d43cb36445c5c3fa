import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { at, parseObject } from '../support/json.ts'
import { startService, upstreamModel, type Customer, type Service } from '../support/service.ts'
import { writeTokenizerFile } from '../support/tokenizer-file.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

const english = 'We agreed on a fixed fee of $4,800 for the annual accounts, payable in two instalments. '

/** A server that counts 8 tokens and can do nothing else. */
let counts = 0
const counter = createServer(({ method }, response) => {
  if (method === 'GET') return void response.writeHead(404).end()
  counts++
  response.end('{"count":8}')
}).listen(0, '127.0.0.1')
await once(counter, 'listening')
const address = counter.address()
const counterUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`

let folder: string
let vendor: Vendor
let service: Service
let customer: Customer
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tokenizer-http-'))
  vendor = await startVendor()
  const model = (id: string, changes: object) => upstreamModel(vendor.url, { id, ...changes })
  service = await startService({
    models: [
      model('gpt', { upstream_model: 'gpt-4o', tokenizer_margin: '10%' }),
      model('file', { tokenizer: await writeTokenizerFile(folder) }),
      model('unknown', {}),
      model('server', { tokenizer: 'vllm', endpoints: [{ url: counterUrl }] }),
    ],
  })
  customer = await service.customer()
})
after(async () => {
  await service.close()
  await vendor.close()
  await rm(folder, { recursive: true })
  counter.close()
  counter.closeAllConnections()
})

const body = (model: string, input = 'Hello', fields = {}) => ({ model, input, max_output_tokens: 100, ...fields })
const count = async (model: string, input?: string) => {
  const { json } = await service.call('/v1/count_tokens', customer.key, body(model, input))
  return Number(json['input_tokens'])
}

/** A conversation with this block in the model's turn. */
const withBlock = (model: string, block: object) => ({
  model,
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Why?' },
    { role: 'assistant', content: [block, { type: 'text', text: 'Because.' }] },
    { role: 'user', content: 'Really?' },
  ],
})
/** A signature in the blocks that have one. */
const blocksOf = (signature: string) => [
  { type: 'thinking', thinking: '', signature },
  { type: 'redacted_thinking', data: signature },
]

describe('A34 the tokens of an upstream model', () => {
  it('are counted with the encoding that its name determines', async () => {
    assert.equal(await count('gpt'), 8)
    // Computed with tiktoken: 22 tokens for each sentence.
    assert.equal(await count('gpt', english.repeat(40).trim()), 40 * 22 + 7)
  })

  it('are counted with a tokenizer.json and its chat template', async () => {
    // ChatML: <|im_start|> user \n … <|im_end|> \n <|im_start|> assistant \n
    assert.ok((await count('file')) < 20)
  })

  it('are bounded by the bytes if the tokenizer is unknown', async () => {
    assert.equal(await count('unknown'), 5 + 16 + 128)
  })

  it('are held with a margin that is released, and charged as the upstream reports', async () => {
    const { accountId, key } = await service.customer({ tokensPerMinute: 1000 })
    vendor.set({ usage: { prompt_tokens: 8, completion_tokens: 3 } })
    const answer = await service.call('/v1/count_tokens', key, body('gpt'))
    // 9 tokens: 8 plus ten percent, rounded up.
    assert.equal(answer.json['max_cost'], ((9 * 0.15 + 100 * 0.6) / 1e6).toFixed(8).replace(/0+$/, ''))
    const stream = await service.call('/v1/generate', key, { ...body('gpt'), stream: true })
    assert.equal(stream.headers.get('x-ratelimit-remaining-tokens'), String(1000 - 9 - 100))
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows[0]?.inputTokens, rows[0]?.usageSource, holds], [8, 'upstream', 0])
    vendor.set({})
  })

  it('include the signatures of thoughts, which vendors decrypt and charge', async () => {
    const tokensOf = async (model: string, block: object) => {
      const { json } = await service.call('/v1/messages/count_tokens', customer.key, withBlock(model, block))
      return Number(json['input_tokens'])
    }
    // 3000 bytes in base64: as bytes, at two bytes for each token, and by a server that decrypts them itself.
    for (const [model, expected] of Object.entries({ unknown: 3000, gpt: 1500, server: 0 })) {
      const [none, one, two] = await Promise.all(
        [{ type: 'text', text: '' }, ...blocksOf('c2ln'.repeat(1000))].map((block) => tokensOf(model, block)),
      )
      assert.deepEqual(
        [one, two].map((tokens) => Number(tokens) - Number(none)),
        [expected, expected],
        model,
      )
    }

    const { accountId, key } = await service.customer({ tokensPerMinute: 10_000 })
    vendor.set({ usageOn: 'none' })
    const [block = {}] = blocksOf('c2ln'.repeat(1000))
    const answer = await service.call('/v1/messages', key, { ...withBlock('unknown', block), stream: true })
    assert.ok(Number(answer.headers.get('anthropic-ratelimit-tokens-remaining')) < 10_000 - 3000 - 100)
    const { rows, holds } = await service.books(accountId)
    // At four bytes for each token, where the upstream reports none.
    assert.deepEqual([rows[0]?.usageSource, rows[0]?.inputTokens, holds], ['estimated', Math.ceil((3000 + 19) / 4), 0])
    vendor.set({})
  })

  it('allow a text of 100 kB at the default limit', async () => {
    const { key } = await service.customer({ tokensPerMinute: 100_000 })
    const input = english.repeat(1140)
    assert.ok(input.length > 100_000)
    vendor.set({ usage: { prompt_tokens: 23_000, completion_tokens: 3 } })
    assert.equal((await service.call('/v1/generate', key, body('unknown', input))).error['code'], 'can_never_fit_limit')
    const answer = await service.call('/v1/generate', key, body('gpt', input))
    assert.deepEqual([answer.status, answer.json['usage']], [200, { input_tokens: 23_000, output_tokens: 3 }])
    vendor.set({})
  })

  it('are not counted for an account that is out of credit or of requests', async () => {
    const earlier = counts
    const poor = await service.customer({ credit: 0n })
    const busy = await service.customer({ requestsPerMinute: 1 })
    assert.equal((await service.call('/v1/count_tokens', busy.key, body('unknown'))).status, 200)
    const long = english.repeat(1000)
    const answers = [
      await service.call('/v1/generate', poor.key, body('server')),
      await service.call('/v1/generate', poor.key, { ...body('server', long), stream: true }),
      await service.call('/v1/messages', poor.key, {
        model: 'server',
        max_tokens: 100,
        messages: [{ role: 'user', content: long }],
      }),
      await service.call('/v1/generate', busy.key, body('server')),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [402, 402, 402, 429],
    )
    assert.match(answers[2]?.text ?? '', /lower max_tokens/)
    assert.ok(Number(answers[3]?.headers.get('retry-after')) >= 1)
    assert.equal(answers[3]?.headers.get('x-ratelimit-remaining-requests'), '0')
    assert.equal(counts, earlier)
    assert.equal((await service.call('/v1/count_tokens', poor.key, body('server'))).json['input_tokens'], 8)
    assert.equal(counts, earlier + 1)
  })

  it('are in the first event of a messages stream', async () => {
    const { text } = await service.call('/v1/messages', customer.key, {
      model: 'gpt',
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content: 'Hello' }],
    })
    const [, data = ''] = /event: message_start\ndata: (.*)\n/.exec(text) ?? []
    assert.equal(at(parseObject(data), 'message', 'usage', 'input_tokens'), 8)
  })

  it('are recorded in the ledger as estimated if the upstream reports none', async () => {
    const { accountId, key } = await service.customer()
    vendor.set({ usage: null })
    assert.equal((await service.call('/v1/generate', key, body('gpt', english.repeat(40).trim()))).status, 200)
    const { rows } = await service.books(accountId)
    assert.deepEqual([rows[0]?.inputTokens, rows[0]?.usageSource], [887, 'estimated'])
    vendor.set({})
  })
})

describe('a tokenizer.json that cannot be used', () => {
  it('fails the start with an error that names the model and the file', async () => {
    const file = path.join(folder, 'missing.json')
    await assert.rejects(startService({ models: [upstreamModel(vendor.url, { tokenizer: file })] }), {
      name: 'OperatorError',
      message: `models: the tokenizer of fast: ${file} cannot be read as a tokenizer. Download the tokenizer.json of the model again.`,
    })
  })
})
