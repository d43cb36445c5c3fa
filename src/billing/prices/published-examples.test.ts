import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargedFor, priceIn, type ReportedUsage } from '../../../tests/support/price-rules.ts'
import { formatDecimal, parseDecimal, quotientHalfEven } from '../../platform/text/decimal.ts'
import type { WrittenPrice } from './money.ts'

/** What vendors write that a usage costs at their prices, as many decimals as they write. */
interface Example {
  readonly vendor: string
  readonly source: string
  readonly price: WrittenPrice
  readonly used: Partial<ReportedUsage>
  /** In USD. */
  readonly cost: string
}

const opus = {
  input: '5',
  output: '25',
  cached_input: '0.5',
  cache_write: '6.25',
  cache_write_1h: '10',
  service_tiers: { batch: { factor: '0.5' } },
  regions: { us: '1.1' },
  tools: { web_search: '0.01' },
}
const grok = {
  input: '1.25',
  output: '2.5',
  cached_input: '0.2',
  steps: [{ above: 199_999, input: '2.5', output: '5', cached_input: '0.4' }],
  tools: { web_search: '0.005' },
}
const sonar = { input: '3', output: '15', tools: { web_search: '0.006' } }
const gemini = {
  input: '1.25',
  output: '10',
  cached_input: '0.125',
  steps: [{ above: 200_000, input: '2.5', output: '15', cached_input: '0.25' }],
}

const pricing = 'Pricing page, read 2026-11'
/** No example: the price of a million tokens is one. */
const list = 'Price list, read 2026-11'

const examples: readonly Example[] = [
  {
    vendor: 'Anthropic',
    source: `${pricing}: a session of 50,000 input and 15,000 output tokens, without its run time`,
    price: opus,
    used: { inputTokens: 50_000, outputTokens: 15_000 },
    cost: '0.625',
  },
  {
    vendor: 'Anthropic',
    source: `${pricing}: the same, if 40,000 tokens are read from the cache`,
    price: opus,
    used: { inputTokens: 10_000, cachedTokens: 40_000, outputTokens: 15_000 },
    cost: '0.445',
  },
  {
    vendor: 'Anthropic',
    source: `${pricing}: $10 for 1,000 searches`,
    price: opus,
    used: { tools: { web_search: 1000 } },
    cost: '10',
  },
  {
    vendor: 'Amazon Bedrock',
    source: 'Pricing page, 2024: a summary of 11K tokens in 4K tokens by Claude',
    price: { input: '8', output: '24' },
    used: { inputTokens: 11_000, outputTokens: 4000 },
    cost: '0.184',
  },
  {
    vendor: 'xAI',
    source: 'The cost that a reply of Grok reports, 318,319,000 of 10⁻¹⁰ USD, with three searches',
    price: grok,
    used: { inputTokens: 6140, cachedTokens: 3072, outputTokens: 3417, tools: { web_search: 3 } },
    cost: '0.0318319000',
  },
  {
    vendor: 'Perplexity',
    source: 'The cost that a reply of Sonar Pro reports, with its request fee',
    price: sonar,
    used: { inputTokens: 18, outputTokens: 170, tools: { web_search: 1 } },
    cost: '0.0086',
  },
  {
    vendor: 'Google',
    source: `${list}: a million tokens of output after a prompt of 200,000 tokens at most, and after a longer one`,
    price: gemini,
    used: { inputTokens: 200_000, outputTokens: 1_000_000 },
    cost: '10.25',
  },
  {
    vendor: 'Google',
    source: `${list}: above 200,000 tokens, all tokens cost the second price`,
    price: gemini,
    used: { inputTokens: 200_001, outputTokens: 1_000_000 },
    cost: '15.5000025',
  },
]

test('Tollgate charges what vendors publish as examples', () => {
  const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, images: 0 }
  for (const { vendor, source, price, used, cost } of examples) {
    const decimals = cost.split('.')[1]?.length ?? 0
    const charged = chargedFor(priceIn(price), { ...none, ...used })
    const rounded = quotientHalfEven(charged, 10n ** BigInt(12 - decimals))
    assert.equal(
      formatDecimal(rounded, decimals),
      formatDecimal(parseDecimal(cost, decimals), decimals),
      `${vendor}: ${source}`,
    )
  }
  assert.ok(new Set(examples.map(({ vendor }) => vendor)).size >= 5)
})
