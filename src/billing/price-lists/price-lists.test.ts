import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify } from 'yaml'
import { createConfigFolder } from '../../../tests/support/config.ts'
import { parseExactDecimal } from '../../platform/text/exact-decimal.ts'
import { writtenPrice } from '../prices/money.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import type { Price } from '../prices/prices.ts'
import { readPriceList, type PriceList } from './price-list.ts'
import { suggestPrices, type VendorModel } from './suggestions.ts'

const { load } = createConfigFolder()

/** Configured models: `id: [upstream_model, url or package]`. */
function modelsOf(entries: Readonly<Record<string, readonly [name: string, where: string]>>): VendorModel[] {
  const common = { context: 1000, max_output_tokens: 100 }
  const models = Object.entries(entries).map(([id, [name, where]]) => ({
    id,
    upstream_model: name,
    ...(where.startsWith('@')
      ? { engine: 'ai-sdk', package: where, ...common }
      : { engine: 'openai', endpoints: [{ url: where }], ...common }),
  }))
  return vendorModelsOf(models)
}

const vendorModelsOf = (models: readonly object[]): VendorModel[] =>
  load(stringify({ models })).models.flatMap((each) => (each.engine === 'local' ? [] : [each]))

function listOf(text: string): PriceList {
  const list = readPriceList(Buffer.from(text))
  assert.ok('format' in list, text)
  return list
}

const models = modelsOf({
  mini: ['gpt-4o-mini', 'https://api.openai.com/v1'],
  routed: ['openai/gpt-4o-mini', 'https://openrouter.ai/api/v1'],
  sonnet: ['claude-sonnet-4-5', '@ai-sdk/anthropic'],
  elsewhere: ['mistral-large-latest', 'https://gateway.example/v1'],
  free: ['gemini-free', '@ai-sdk/google'],
  dear: ['command-x', 'https://api.cohere.com/v1'],
})

/** As Python writes the numbers of LiteLLM's list. */
const liteLlm = `{
  "sample_spec": { "input_cost_per_token": 0.0, "litellm_provider": "one of https://docs.litellm.ai", "mode": "chat" },
  "gpt-4o-mini": { "litellm_provider": "openai", "mode": "chat", "max_tokens": 16384, "supports_vision": true,
    "input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "cache_read_input_token_cost": 7.5e-08,
    "input_cost_per_token_flex": 7.5e-08, "output_cost_per_token_flex": 3e-07, "cache_read_input_token_cost_flex": 3.75e-08, "output_cost_per_reasoning_token": 6e-07,
    "input_cost_per_token_batches": 7.5e-08, "input_cost_per_token_priority": 2.5e-07, "output_cost_per_token_priority": 1e-06, "input_cost_per_audio_token": 0.0,
    "search_context_cost_per_query": { "search_context_size_low": 0.03, "search_context_size_high": 0.05 } },
  "azure/gpt-4o-mini": { "litellm_provider": "azure", "input_cost_per_token": 1.65e-07, "output_cost_per_token": 6.6e-07 },
  "openrouter/openai/gpt-4o-mini": { "litellm_provider": "openrouter", "input_cost_per_token": 0.00000016, "output_cost_per_token": 6E-7 },
  "claude-sonnet-4-5": { "litellm_provider": "anthropic", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
    "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06,
    "cache_creation_input_token_cost_above_1hr": 6e-06, "input_cost_per_token_above_200k_tokens": 6e-06,
    "output_cost_per_token_above_200k_tokens": 2.25e-05, "cache_creation_input_token_cost_above_200k_tokens": 7.5e-06,
    "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1.2e-05, "levy": "0.1",
    "search_context_cost_per_query": { "search_context_size_low": 0.01, "search_context_size_high": 0.01 } },
  "mistral/mistral-large-latest": { "litellm_provider": "mistral", "input_cost_per_token": 2e-06, "output_cost_per_token": 6e-06 },
  "azure_ai/mistral-large-latest": { "litellm_provider": "azure_ai", "input_cost_per_token": 4e-06, "output_cost_per_token": 1.2e-05 },
  "gemini/gemini-free": { "litellm_provider": "gemini", "input_cost_per_token": 0, "output_cost_per_token": 0 },
  "command-x": { "litellm_provider": "cohere_chat", "input_cost_per_token": 1.00000001e-06, "output_cost_per_token": 2e-06 }
}`

const entry = (id: string, slug: string, pricing: object) => ({ id, canonical_slug: slug, pricing })

const openRouter = (prompt: string, further: object = {}) =>
  listOf(
    JSON.stringify({
      data: [
        entry('openai/gpt-4o-mini', 'openai/gpt-4o-mini', {
          prompt,
          completion: '0.0000006',
          request: '0',
          image: '0.000217',
          internal_reasoning: '0.0000006',
          web_search: '0.01',
          overrides: [{ min_prompt_tokens: 200_000, prompt: '0.0000004', completion: '0.0000008', ...further }],
        }),
        entry('openrouter/auto', 'openrouter/auto', { prompt: '-1', completion: '-1' }),
      ],
    }),
  )

const suggested = (list: PriceList, needs: Partial<Parameters<typeof suggestPrices>[1]> = {}) =>
  suggestPrices(list, { models, prices: new Map(), ...needs })

describe('a price list', () => {
  test("of LiteLLM is read exactly, sold by the upstream's vendor, and what has no price is named", () => {
    const { changes, leftOut, faults } = suggested(listOf(liteLlm))
    assert.deepEqual(faults, [])
    assert.deepEqual(
      changes.map(({ model, listed, price }) => [model, listed, writtenPrice(price)]),
      [
        [
          'mini',
          'gpt-4o-mini',
          {
            input: '0.15',
            output: '0.6',
            cached_input: '0.075',
            service_tiers: {
              flex: { factor: '0.5' },
              // Its output is not the same multiple, and cached input costs what it costs in the standard tier.
              priority: { input: '0.25', output: '1', cached_input: '0.075' },
            },
          },
        ],
        ['routed', 'openrouter/openai/gpt-4o-mini', { input: '0.16', output: '0.6' }],
        [
          'sonnet',
          'claude-sonnet-4-5',
          {
            input: '3',
            output: '15',
            cached_input: '0.3',
            cache_write: '3.75',
            cache_write_1h: '6',
            steps: [
              {
                above: 200_000,
                input: '6',
                output: '22.5',
                cached_input: '0.3',
                cache_write: '7.5',
                cache_write_1h: '12',
              },
            ],
            tools: { web_search: '0.01' },
          },
        ],
      ],
    )
    assert.deepEqual(
      changes.map(({ unpriced }) => unpriced.map(({ field, value }) => `${field} ${value}`)),
      [
        [
          // Lines of batches are sent as ordinary requests.
          'input_cost_per_token_batches 7.5e-08',
          String.raw`search_context_cost_per_query "{\"search_context_size_low\":\"0.03\",\"search_context_size_high\":\"0.05\"}"`,
        ],
        [],
        ['levy 0.1'],
      ],
    )
    assert.deepEqual(leftOut, [
      {
        model: 'elsewhere',
        reason: 'the list has several: mistral/mistral-large-latest, azure_ai/mistral-large-latest',
      },
      { model: 'free', reason: 'its output does not cost more than its input' },
      { model: 'dear', reason: 'its price of input must have at most 12 decimals' },
    ])
    const named = suggested(listOf(liteLlm), { names: new Map([['elsewhere', 'azure_ai/mistral-large-latest']]) })
    assert.equal(named.changes.find(({ model }) => model === 'elsewhere')?.price.input, 4_000_000n)
  })

  test('of OpenRouter is read by id or slug, with -1 for no fixed price, and an unreadable price is a fault of its model', () => {
    const { changes, leftOut, faults } = suggested(openRouter('0.00000015'), { models: models.slice(0, 2) })
    assert.deepEqual(faults, [])
    assert.deepEqual(leftOut, [{ model: 'mini', reason: 'the list has no gpt-4o-mini' }])
    const rules = { image: '0.000217', tools: { web_search: '0.01' } }
    const four = { input: '0.15', output: '0.6' }
    const steps = [{ above: 199_999, input: '0.4', output: '0.8' }]
    assert.deepEqual(
      changes.map(({ price, unpriced }) => [writtenPrice(price), unpriced]),
      [[{ ...four, steps, ...rules }, []]],
    )
    const [other] = suggested(openRouter('0.00000015', { at: 'night' }), { models: models.slice(1, 2) }).changes
    assert.deepEqual(other && writtenPrice(other.price), { ...four, ...rules })
    assert.deepEqual(
      other?.unpriced.map(({ field }) => field),
      ['overrides'],
      'a step that depends on more is named as a whole',
    )
    assert.equal(suggested(openRouter('-1')).leftOut[1]?.reason, 'the list has no price for its input')
    assert.match(suggested(openRouter('cheap')).faults[0]?.reason ?? '', /prompt cheap must be a decimal number/)
  })

  test('of the firm is CSV per million tokens, by the names of upstreams or by ids', () => {
    const list = listOf('model;input;output;cached_input\ngpt-4o-mini;0.15;0.60;\nsonnet;3;15;0.30\n')
    const prices = new Map<string, Price>([['mini', { input: 150_000n, output: 600_000n, cachedInput: null }]])
    const { same, changes, leftOut } = suggested(list, { prices, models: models.slice(0, 3) })
    assert.deepEqual(
      [same, changes, leftOut].map((each) => each.map(({ model }) => model)),
      [['mini'], ['sonnet'], ['routed']],
    )
  })

  test('leaves the rules in force that it says nothing about, and is not that price if another rule differs', () => {
    const now = {
      input: 3_000_000n,
      output: 15_000_000n,
      cachedInput: 300_000n,
      cacheWrite: 3_750_000n,
      rules: {
        cacheWriteHour: 6_000_000n,
        steps: [
          {
            above: 200_000,
            input: 6_000_000n,
            output: 22_500_000n,
            cachedInput: 300_000n,
            cacheWrite: 7_500_000n,
            cacheWriteHour: 12_000_000n,
          },
        ],
        serviceTiers: { batch: { factor: 500_000n } },
        regions: { us: 1_100_000n },
        tools: { web_search: 10_000_000_000n },
      },
    }
    const sonnet = models.slice(2, 3)
    assert.deepEqual(
      valuesOf(suggested(listOf(liteLlm), { models: sonnet, prices: new Map([['sonnet', now]]) }).same, 'model'),
      ['sonnet'],
    )
    const dearer = { ...now, rules: { ...now.rules, tools: { web_search: 20_000_000_000n } } }
    const [change] = suggested(listOf(liteLlm), { models: sonnet, prices: new Map([['sonnet', dearer]]) }).changes
    assert.deepEqual(change?.price.rules, now.rules)
  })

  test('has no factor for a service tier of which it does not state each price', () => {
    const half = { input_cost_per_token_flex: '5e-07', output_cost_per_token_flex: '1e-06' }
    const standard = { litellm_provider: 'openai', input_cost_per_token: '1e-06', output_cost_per_token: '2e-06' }
    const tierOf = (further: object) => {
      const list = listOf(JSON.stringify({ 'gpt-4o-mini': { ...standard, ...half, ...further } }))
      const [change] = suggested(list, { models: models.slice(0, 1) }).changes
      return change?.price.rules?.serviceTiers?.['flex']
    }
    assert.deepEqual(tierOf({}), { factor: 500_000n })
    const row = { input: 500_000n, output: 1_000_000n, cacheWrite: undefined, cacheWriteHour: undefined }
    assert.deepEqual(tierOf({ cache_read_input_token_cost: '2e-07' }), { ...row, cachedInput: 200_000n })
    const above = { input_cost_per_token_above_200k_tokens: '4e-06', output_cost_per_token_above_200k_tokens: '6e-06' }
    assert.deepEqual(tierOf(above), {
      ...row,
      cachedInput: undefined,
      steps: [{ ...row, cachedInput: undefined, input: 4_000_000n, output: 6_000_000n, above: 200_000 }],
    })
  })

  test('has the steps of a service tier that differ, and the standard ones for the others', () => {
    const listed = {
      litellm_provider: 'openai',
      input_cost_per_token: '1e-06',
      output_cost_per_token: '2e-06',
      input_cost_per_token_above_100k_tokens: '3e-06',
      output_cost_per_token_above_100k_tokens: '4e-06',
      input_cost_per_token_above_200k_tokens: '5e-06',
      output_cost_per_token_above_200k_tokens: '6e-06',
      input_cost_per_token_priority: '2e-06',
      output_cost_per_token_priority: '3e-06',
      input_cost_per_token_above_200k_tokens_priority: '7e-06',
      output_cost_per_token_above_200k_tokens_priority: '8e-06',
    }
    const stale = { input: 1n, output: 2n, rules: { steps: [{ above: 50_000, input: 1n, output: 2n }] } }
    const list = listOf(JSON.stringify({ 'gpt-4o-mini': listed }))
    const needs = { models: models.slice(0, 1), prices: new Map([['mini', stale]]) }
    const [change] = suggested(list, needs).changes
    const first = { above: 100_000, input: '3', output: '4' }
    assert.deepEqual(change && writtenPrice(change.price), {
      input: '1',
      output: '2',
      steps: [first, { above: 200_000, input: '5', output: '6' }],
      service_tiers: {
        priority: { input: '2', output: '3', steps: [first, { above: 200_000, input: '7', output: '8' }] },
      },
    })
  })

  test('has no rules for an embedding model, and a rule that cannot be read is a fault', () => {
    const far = { litellm_provider: 'openai', input_cost_per_token: '1e-08', input_cost_per_token_batches: '5e-09' }
    const where = {
      id: 'far',
      upstream_model: 'far',
      engine: 'openai',
      endpoints: [{ url: 'https://api.openai.com/v1' }],
    }
    const [embedding, text] = [{ kind: 'embeddings' }, { max_output_tokens: 100 }].map((rest) =>
      vendorModelsOf([{ ...where, context: 1000, ...rest }]),
    )
    const [change] = suggested(listOf(JSON.stringify({ far })), { models: embedding ?? [] }).changes
    assert.deepEqual(
      [change?.price.rules, change?.unpriced],
      [undefined, [{ field: 'input_cost_per_token_batches', value: '5e-09' }]],
    )
    const wrong = { ...far, output_cost_per_token: '2e-08', input_cost_per_image: 'much' }
    assert.match(
      suggested(listOf(JSON.stringify({ far: wrong })), { models: text ?? [] }).faults[0]?.reason ?? '',
      /input_cost_per_image much must be/,
    )
  })

  test('in another currency is multiplied exactly and rounded once', () => {
    const rate = parseExactDecimal('0.923456')
    const { changes } = suggested(listOf(liteLlm), { rate, models: models.slice(0, 1) })
    const written = changes.map(({ price }) => writtenPrice(price))
    // 7.5e-08 × 0.923456 is 69259.2 units.
    assert.deepEqual(
      written.map(({ input, output, cached_input: cached }) => [input, output, cached]),
      [['0.138518', '0.554074', '0.069259']],
    )
    // Half of the rounded cached input is not the rounded half.
    assert.deepEqual(written[0]?.service_tiers?.['flex'], {
      input: '0.069259',
      output: '0.277037',
      cached_input: '0.03463',
    })
  })

  const refused: [what: string, text: string, line: number, reason: RegExp][] = [
    ['of another kind', '{"prices":\n[]}', 1, /neither LiteLLM's list nor OpenRouter's/],
    ['that is broken JSON', '{\n"a": {,}\n}', 2, /not JSON/],
    ['that is empty', '', 1, /empty/],
    ['with an unknown column', 'model,input,outptu\nx,1,2\n', 1, /unknown column "outptu"/],
    ['with a column twice', 'model,input,input\nx,1,2\n', 1, /appears twice/],
    ['without input', 'model,output\nx,1\n', 1, /column input is missing/],
    ['with a model twice', 'model,input\nx,1\ny,2\nx,1\n', 4, /"x" is already in line 2/],
    ['with a decimal comma', 'model;input\nx;0,15\n', 2, /input price "0,15" must be a decimal number/],
    ['with a negative price', 'model,input\nx,-1\n', 2, /must not be negative/],
    ['with a short line', 'model,input\nx\n', 2, /1 cells, but the header has 2/],
    ['without a price', 'model,input,output\nx,,1\n', 2, /input price is missing/],
  ]
  for (const [what, text, line, reason] of refused) {
    test(`${what} is refused with its line`, () => {
      const found = readPriceList(Buffer.from(text))
      assert.ok(Array.isArray(found))
      assert.equal(found[0]?.line, line)
      assert.match(found[0].reason, reason)
    })
  }
})
