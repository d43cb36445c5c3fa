import assert from 'node:assert/strict'
import path from 'node:path'
import { after, describe, it } from 'node:test'
import { at, parseObject, valuesOf } from '../support/json.ts'
import { serve } from '../support/server.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { writeTokenizerFile } from '../support/tokenizer-file.ts'
import { startVendor } from '../support/vendor.ts'
import { fixture, temporaryFolder } from '../support/fixture.ts'

const english = 'We agreed on a fixed fee of $4,800 for the annual accounts, payable in two instalments. '

/** A server that counts 8 tokens and can do nothing else. */
let counts = 0
const counter = await serve(({ method }, response) => {
  if (method === 'GET') return void response.writeHead(404).end()
  counts++
  response.end('{"count":8}')
})
const counterUrl = `${counter.url}/v1`
after(() => counter.close())

/** A model with `engine: ai-sdk`. */
const packaged = { engine: 'ai-sdk', endpoints: undefined, key: 'sk-vendor', tokenizer_margin: '0%' }

const folder = temporaryFolder()
const vendor = fixture(() => startVendor())
const modelOf = (id: string, changes: object) => upstreamModel(vendor.url, { id, ...changes })
const service = fixture(async () =>
  startService({
    models: [
      modelOf('gpt', { upstream_model: 'gpt-4o', tokenizer_margin: '10%' }),
      modelOf('file', { tokenizer: await writeTokenizerFile(folder) }),
      modelOf('unknown', {}),
      modelOf('claude', {
        upstream_model: 'anthropic/claude-opus-4.6',
        tokenizer: 'o200k_base',
        tokenizer_margin: '0%',
      }),
      modelOf('unknown-claude', { upstream_model: 'claude' }),
      ...['anthropic', 'openai-compatible'].map((name) =>
        modelOf(name, { ...packaged, package: `@ai-sdk/${name}`, url: vendor.url, tokenizer: 'o200k_base' }),
      ),
      modelOf('server', { tokenizer: 'vllm', endpoints: [{ url: counterUrl }] }),
    ],
  }),
)
const customer = fixture(() => service.customer())

const body = (name: string, input = 'Hello', fields = {}) => ({ model: name, input, max_output_tokens: 100, ...fields })
const count = async (name: string, input?: string) => {
  const { json } = await service.call('/v1/count_tokens', customer.key, body(name, input))
  return Number(json['input_tokens'])
}

/** The tokens that a request would hold, from its refusal: the levels of an admitted request rise with time. */
async function tokensOf(route: string, request: object): Promise<number> {
  const { key } = await service.customer({ tokensPerMinute: 1 })
  const { text } = await service.call(route, key, request)
  const [, tokens] = /asks for (\d+) tokens/.exec(text) ?? []
  assert.ok(tokens !== undefined, text)
  return Number(tokens)
}

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
    const { accountId, key } = await service.customer()
    vendor.set({ usage: { prompt_tokens: 8, completion_tokens: 3 } })
    const answer = await service.call('/v1/count_tokens', key, body('gpt'))
    // 9 tokens: 8 plus ten percent, rounded up.
    assert.equal(answer.json['max_cost'], ((9 * 0.15 + 100 * 0.6) / 1e6).toFixed(8).replace(/0+$/, ''))
    assert.equal(await tokensOf('/v1/generate', { ...body('gpt'), stream: true }), 9 + 100)
    assert.equal((await service.call('/v1/generate', key, { ...body('gpt'), stream: true })).status, 200)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows[0]?.inputTokens, rows[0]?.usageSource, holds], [8, 'upstream', 0])
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
    assert.deepEqual(valuesOf(answers, 'status'), [402, 402, 402, 429])
    assert.match(answers[2]?.text ?? '', /lower max_tokens/)
    assert.ok(Number(answers[3]?.headers.get('retry-after')) >= 1)
    assert.equal(answers[3]?.headers.get('x-ratelimit-remaining-requests'), '0')
    assert.equal(counts, 0)
    assert.equal((await service.call('/v1/count_tokens', poor.key, body('server'))).json['input_tokens'], 8)
    assert.equal(counts, 1)
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

/** A conversation with reasoning and redacted reasoning, each with a signature of so many bytes. */
const think = (model: string, bytes: number) => ({
  model,
  max_tokens: 100,
  stream: true,
  messages: [
    { role: 'user', content: 'Hello' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: Buffer.alloc(bytes, 'a').toString('base64') },
        { type: 'redacted_thinking', data: Buffer.alloc(bytes, 'b').toString('base64') },
        { type: 'text', text: 'Hi' },
      ],
    },
    { role: 'user', content: 'Go on' },
  ],
})

/** The tokens that a request shows its caller, and those that are held for its prompt. */
async function inputOf(model: string, bytes: number) {
  const { text } = await service.call('/v1/messages', customer.key, think(model, bytes))
  const [, data = ''] = /event: message_start\ndata: (.*)\n/.exec(text) ?? []
  const shown = Number(at(parseObject(data), 'message', 'usage', 'input_tokens'))
  return { shown, held: (await tokensOf('/v1/messages', think(model, bytes))) - 100 }
}

describe('encrypted reasoning', () => {
  for (const model of ['claude', 'anthropic']) {
    it(`is counted for ${model}, and held with a margin`, async () => {
      const [without, signed] = [await inputOf(model, 1), await inputOf(model, 2001)]
      assert.deepEqual([signed.shown - without.shown, signed.held - without.held], [1000, 2000])
    })
  }

  for (const model of ['gpt', 'unknown', 'openai-compatible']) {
    it(`is not counted for ${model}, which does not get it`, async () => {
      assert.deepEqual(await inputOf(model, 2001), await inputOf(model, 1))
      assert.doesNotMatch(JSON.stringify(vendor.last.body), /YWFh|YmJi/)
    })
  }
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
