import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertRefused, ok } from '../support/answer.ts'
import { openFirm } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'
import { at, objectAt } from '../support/json.ts'
import { upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())

const price = {
  input: '4',
  output: '20',
  cached_input: '0.4',
  cache_write: '5',
  cache_write_1h: '8',
  steps: [{ above: 1000, input: '8', output: '30', cached_input: '0.8', cache_write: '10', cache_write_1h: '16' }],
  service_tiers: { flex: { factor: '0.5' }, batch: { factor: '0.5' }, priority: { input: '7', output: '35' } },
  regions: { us: '1.1' },
  image: '0.001',
  tools: { web_search: '0.01' },
}

const { firm, paula } = openFirm(() => {
  const model = (id: string, name: string) =>
    upstreamModel(vendor.url, {
      id,
      engine: 'ai-sdk',
      endpoints: undefined,
      package: name,
      url: vendor.url,
      key: 'sk-vendor',
      upstream_model: 'claude-opus-4-6',
      price,
    })
  return {
    models: [
      upstreamModel(vendor.url, { price, tokenizer: 'bytes' }),
      model('claude', '@ai-sdk/anthropic'),
      model('gpt', '@ai-sdk/openai'),
      model('compatible', '@ai-sdk/openai-compatible'),
      upstreamModel(vendor.url, { id: 'plain' }),
    ],
  }
})

const usage = {
  prompt_tokens: 600,
  completion_tokens: 10,
  prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 200 },
}
const reported = {
  cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
  inference_geo: 'us',
}

const marked = { type: 'text', text: 'x'.repeat(600), cache_control: { type: 'ephemeral', ttl: '1h' } }
const ask = (model: string, stream: boolean, content: readonly object[] = [marked]) => ({
  model,
  max_tokens: 10,
  stream,
  messages: [{ role: 'user', content }],
})

/** What a request of a new account to this address was charged for, in 10⁻¹² of the currency unit. */
async function charged(path: string, body: object) {
  const { accountId, key } = await firm.service.customer()
  const answer = await firm.service.call(path, key, body)
  assert.equal(answer.status, 200, answer.text)
  const { rows, holds } = await firm.service.books(accountId)
  assert.equal(holds, 0)
  return rows[0]?.cost
}

/** What one request of a new account was charged for, in 10⁻¹² of the currency unit. */
async function chargedFor(body: object): Promise<bigint> {
  return (await charged('/v1/messages', body)) ?? assert.fail()
}

describe('a reply is charged by the rules of its price', () => {
  for (const stream of [false, true]) {
    test(`with what Anthropic's API reports of it, also through gateways; stream: ${stream}`, async () => {
      // 300 tokens of input, 100 cached, 50 written for five minutes and 150 for an hour, and 10 of output.
      const standard = 300n * 4n + (100n * 4n) / 10n + 50n * 5n + 150n * 8n + 10n * 20n
      for (const model of ['claude', 'fast', 'compatible']) {
        vendor.set({ usage: { ...usage, ...reported }, usageFields: reported })
        assert.equal(await chargedFor(ask(model, stream)), (standard * 1_000_000n * 11n) / 10n, model)
        const flex = { service_tier: 'flex', ...reported, inference_geo: 'global' }
        vendor.set({ usage: { ...usage, ...flex }, usageFields: flex })
        assert.equal(await chargedFor(ask(model, stream)), standard * 500_000n, model)
      }
    })

    test(`with the service tier of OpenAI's APIs; stream: ${stream}`, async () => {
      vendor.set({ usage: { prompt_tokens: 600, completion_tokens: 10 }, serviceTier: 'priority' })
      for (const model of ['fast', 'gpt', 'compatible']) {
        assert.equal(await chargedFor(ask(model, stream)), (600n * 7n + 10n * 35n) * 1_000_000n, model)
      }
    })

    test(`at the step of the length of its prompt, with its images; stream: ${stream}`, async () => {
      const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
      const content = [image, { type: 'text', text: 'x'.repeat(1200) }, image]
      vendor.set({ usage: { prompt_tokens: 1001, completion_tokens: 1 } })
      const cost = (1001n * 8n + 30n) * 1_000_000n + 2n * 10n ** 9n
      for (const model of ['fast', 'claude']) assert.equal(await chargedFor(ask(model, stream, content)), cost, model)
      vendor.set({ usage: { prompt_tokens: 1000, completion_tokens: 1 } })
      assert.equal(await chargedFor(ask('fast', stream, content)), (1000n * 4n + 20n) * 1_000_000n + 2n * 10n ** 9n)
    })
  }

  test('or at the dearest that was held, with a line in the log, if its tier has no price', async () => {
    vendor.set({ usage: { prompt_tokens: 600, completion_tokens: 10 }, serviceTier: 'ultra' })
    assert.equal(await chargedFor(ask('fast', false)), (600n * 7n + 10n * 35n) * 1_000_000n)
    assert.match(firm.service.logText(), /"strange":\["service tier ultra"\]/)
  })

  test('and by its four prices if the price has no rules, whatever its vendor reports', async () => {
    vendor.set({ usage: { ...usage, ...reported, service_tier: 'priority' } })
    assert.equal(await chargedFor(ask('plain', false)), 600n * 150_000n + 10n * 600_000n)
  })
})

describe('a service tier or a region that a request asks for', () => {
  const chat = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 }
  const message = { ...chat, inference_geo: 'us' }
  const response = { input: 'Hello', max_output_tokens: 10, service_tier: 'flex' }

  test('reaches the upstream, and the hold covers only that and the standard one', async () => {
    vendor.set({ usage: { prompt_tokens: 10, completion_tokens: 10 }, serviceTier: 'flex' })
    for (const [path, model, body, field] of [
      ['/v1/chat/completions', 'fast', { ...chat, service_tier: 'flex' }, 'service_tier'],
      ['/v1/chat/completions', 'compatible', { ...chat, service_tier: 'flex' }, 'service_tier'],
      ['/v1/responses', 'fast', response, 'service_tier'],
      ['/v1/messages', 'fast', message, 'inference_geo'],
      ['/v1/messages', 'claude', message, 'inference_geo'],
    ] as const) {
      const { accountId, key } = await firm.service.customer()
      const answer = await firm.service.call(path, key, { model, ...body })
      assert.equal(answer.status, 200, `${path} ${model}: ${answer.text}`)
      assert.equal(at(vendor.last.body, field), at(body, field), `${path} ${model}`)
      const { rows } = await firm.service.books(accountId)
      if (field === 'service_tier')
        assert.equal(rows[0]?.cost, 10n * 2_000_000n + 10n * 10_000_000n, `${path} ${model}`)
    }
  })

  test('has no effect if it is the standard one', async () => {
    vendor.set({ usage: { prompt_tokens: 10, completion_tokens: 10 } })
    const { key } = await firm.service.customer()
    for (const [path, body, field] of [
      ['/v1/chat/completions', { ...chat, service_tier: 'auto' }, 'service_tier'],
      ['/v1/responses', { ...response, service_tier: 'default' }, 'service_tier'],
      ['/v1/messages', { ...message, inference_geo: 'global' }, 'inference_geo'],
    ] as const) {
      ok(await firm.service.call(path, key, { model: 'plain', ...body }), 200)
      assert.equal(at(vendor.last.body, field), undefined)
    }
  })

  test('is refused by name if the model has no price for it, and nothing is held', async () => {
    const { accountId, key } = await firm.service.customer()
    for (const [path, model, body, field] of [
      ['/v1/chat/completions', 'plain', { ...chat, service_tier: 'flex' }, 'service_tier'],
      ['/v1/chat/completions', 'fast', { ...chat, service_tier: 'ultra' }, 'service_tier'],
      // That is for requests in the background.
      ['/v1/chat/completions', 'fast', { ...chat, service_tier: 'batch' }, 'service_tier'],
      ['/v1/responses', 'fast', { ...response, service_tier: 'batch' }, 'service_tier'],
      ['/v1/responses', 'plain', response, 'service_tier'],
      ['/v1/messages', 'plain', message, 'inference_geo'],
      ['/v1/messages', 'fast', { ...message, inference_geo: 'moon' }, 'inference_geo'],
    ] as const) {
      const answer = await firm.service.call(path, key, { model, ...body })
      assert.equal(answer.status, 400, `${path} ${model}: ${answer.text}`)
      assert.match(answer.text, new RegExp(field))
    }
    const { rows, holds } = await firm.service.books(accountId)
    assert.deepEqual([rows, holds], [[], 0])
  })
})

describe('a search of the web by the vendor', () => {
  const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }
  const asksOpenAi = { model: 'gpt', input: 'Hello', max_output_tokens: 10, max_tool_calls: 3 }
  const asksAnthropic = { model: 'claude', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 }
  const anthropicSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: 4 }
  const tokens = { prompt_tokens: 100, completion_tokens: 10 }
  const cost = 100n * 4_000_000n + 10n * 20_000_000n

  test("costs its price for each use, in the form of OpenAI's responses", async () => {
    vendor.set({ usage: tokens, searches: ['search', 'open_page', 'search'] })
    const search = { type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['example.com'] } }
    assert.equal(await charged('/v1/responses', { ...asksOpenAi, tools: [search, weather] }), cost + 2n * 10n ** 10n)
    const { tools, max_tool_calls: most } = objectAt(vendor.last.body)
    assert.equal(most, 3)
    assert.deepEqual(at(tools, 1, 'type'), 'web_search')
    assert.deepEqual(at(tools, 1, 'filters', 'allowed_domains'), ['example.com'])
  })

  for (const stream of [false, true]) {
    test(`costs its price for each use, in the form of Anthropic's messages; stream: ${stream}`, async () => {
      vendor.set({ usage: tokens, usageFields: { server_tool_use: { web_search_requests: 3 } } })
      const body = { ...asksAnthropic, stream, tools: [anthropicSearch] }
      assert.equal(await charged('/v1/messages', body), cost + 3n * 10n ** 10n)
      assert.deepEqual(at(vendor.last.body, 'tools', 0), anthropicSearch)
      vendor.set({ usage: tokens, usageFields: { server_tool_use: { web_search_requests: 9 } } })
      assert.equal(await charged('/v1/messages', body), cost + 4n * 10n ** 10n, 'only the allowed searches')
    })
  }

  test('is left out beside other tools for models without a price of it, and refused by name where it is needed', async () => {
    vendor.set({ usage: tokens })
    const search = { type: 'web_search' }
    await charged('/v1/responses', { ...asksOpenAi, model: 'fast', tools: [search, weather] })
    assert.deepEqual(at(vendor.last.body, 'tools', 1), undefined)
    const { accountId, key } = await firm.service.customer()
    for (const [path, body, field] of [
      ['/v1/responses', { ...asksOpenAi, model: 'plain', tools: [search] }, 'tools[0]'],
      ['/v1/responses', { ...asksOpenAi, tools: [{ type: 'web_serch' }] }, 'tools[0].type'],
      ['/v1/responses', { ...asksOpenAi, tools: [{ ...search, colour: 1 }] }, 'tools[0].colour'],
      ['/v1/responses', { ...asksOpenAi, tools: [search], max_tool_calls: 0 }, 'max_tool_calls'],
      ['/v1/messages', { ...asksAnthropic, model: 'fast', tools: [anthropicSearch] }, 'tools[0]'],
      ['/v1/messages', { ...asksAnthropic, tools: [{ ...anthropicSearch, max_uses: 0 }] }, 'tools[0].max_uses'],
      ['/v1/messages', { ...asksAnthropic, tools: [{ type: 'web_serch_2', name: 'web_search' }] }, 'tools[0].type'],
      ['/v1/messages', { ...asksAnthropic, tools: [{ type: 'code_execution_20250522', name: 'x' }] }, 'tools[0].type'],
    ] as const) {
      const answer = await firm.service.call(path, key, body)
      assert.equal(answer.status, 400, answer.text)
      assert.ok(answer.text.includes(field), `${field}: ${answer.text}`)
    }
    const { rows, holds } = await firm.service.books(accountId)
    assert.deepEqual([rows, holds], [[], 0])
  })
})

test('callers see the rules of a price, and the maximum cost of a counted request', async () => {
  const { key } = await firm.service.customer()
  const listed = await firm.service.call('/v1/models/fast', key)
  const { currency: _, ...shown } = objectAt(listed.json['price'])
  assert.deepEqual(shown, price)
  const body = { model: 'fast', input: 'x'.repeat(2000), max_output_tokens: 10 }
  const counted = await firm.service.call('/v1/count_tokens', key, body)
  const tokens = BigInt(Number(counted.json['input_tokens']))
  // The second step at the dearer region, and its cache writes.
  assert.equal(at(counted.json, 'max_cost'), formatted(tokens * 11_000_000n + 10n * 38_500_000n))
})

const formatted = (amount: bigint): string => (Number(amount) / 1e12).toString()

test('a price with a fault is refused by name, and nothing is set', async () => {
  const before = (await paula.get('/models')).text
  const set = (rules: object) => paula.send('POST', '/models/plain/prices', { input: '1', output: '2', ...rules })
  for (const [rules, field] of [
    [{ tools: { web_serch: '0.01' } }, 'tools.web_serch'],
    [{ steps: [] }, 'steps'],
    [{ steps: [{ above: 5, input: '1' }] }, 'steps[0].output'],
    [{ service_tiers: { flex: { steps: [{ above: 5, input: '1', output: '2' }] } } }, 'service_tiers.flex.input'],
    [{ service_tiers: { flex: { factor: '1/2' } } }, 'service_tiers.flex.factor'],
    [{ regions: { us: '1.0000001' } }, 'regions.us'],
    [{ steps: [{ above: 5, input: '2', output: '2' }] }, 'steps[0].output'],
  ] as const) {
    const refused = await set(rules)
    assert.equal(refused.status, 400, refused.text)
    assert.equal(refused.error['field'], field, refused.text)
  }
  assert.equal((await paula.get('/models')).text, before)
  const at2099 = { ...price, valid_from: '2099-01-01' }
  ok(await set(at2099), 201)
  ok(await set(at2099), 201)
  assertRefused(await set({ ...at2099, image: '0.002' }), 'invalid_field', 'valid_from')
})
