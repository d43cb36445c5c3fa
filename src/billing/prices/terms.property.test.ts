import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draws } from '../../../tests/support/draws.ts'
import {
  chargedFor,
  createNumbers,
  drawPrice,
  drawUsage,
  independentCost,
  priceIn,
  reachFor,
} from '../../../tests/support/price-rules.ts'
import { priceFaults } from './price-rule.ts'
import { mostCostOf } from './price.ts'
import { chargeTermsOf, costWithTerms, hasRules, holdTermsOf } from './terms.ts'
import { promptTokensOf } from './tokens.ts'

const { numRuns, seed } = draws({ test: 40_000, endure: 1_000_000 })
const perPrice = 50

test('usages over all kinds of prices cost the same to the last 10⁻¹² by another computation', () => {
  const numbers = createNumbers(seed)
  for (let run = 0; run < numRuns; run += perPrice) {
    const written = drawPrice(numbers)
    const price = priceIn(written)
    assert.deepEqual(priceFaults(price), [])
    for (let each = 0; each < perPrice; each += 1) {
      const usage = drawUsage(numbers, written)
      const expected = independentCost(written, usage)
      const charged = chargedFor(price, usage)
      if (charged !== expected) assert.fail(`${charged} instead of ${expected}: ${JSON.stringify([written, usage])}`)
    }
  }
})

test('a reply of an unknown service tier and region costs what the dearest of those that were held would', () => {
  const numbers = createNumbers(seed + 2)
  for (let run = 0; run < numRuns / 10; run += 1) {
    const written = drawPrice(numbers)
    const price = priceIn(written)
    const usage = drawUsage(numbers, written)
    const tiers = [undefined, ...Object.keys(written.service_tiers ?? {})]
    const regions = [undefined, ...Object.keys(written.regions ?? {})]
    const all = tiers.flatMap((serviceTier) =>
      regions.map((region) => independentCost(written, { ...usage, serviceTier, region })),
    )
    const expected = all.reduce((dearest, each) => (each > dearest ? each : dearest))
    const reach = { ...reachFor(usage), serviceTier: undefined, region: undefined }
    const charged = chargedFor(price, { ...usage, serviceTier: 'unheard-of', region: 'moon' }, reach)
    if (charged !== expected) assert.fail(`${charged} instead of ${expected}: ${JSON.stringify([written, usage])}`)
  }
})

test('no reply costs more than was held, whatever its vendor reports', () => {
  const numbers = createNumbers(seed + 1)
  const { below, chance, of } = numbers
  for (let run = 0; run < numRuns / 10; run += 1) {
    const written = drawPrice(numbers)
    const price = priceIn(written)
    assert.ok(hasRules(price))
    const usage = drawUsage(numbers, written)
    const reach = {
      ...reachFor(usage),
      hourWrites: chance(0.5),
      serviceTier: of([undefined, usage.serviceTier]),
      region: of([undefined, usage.region]),
      tools: { web_search: below(5) },
      // What it is charged at beyond its hold may depend on the length of its prompt, which an upstream may misreport.
      promptTokens: chance(0.5) ? promptTokensOf(usage) : below(1000),
    }
    const reported = {
      ...usage,
      serviceTier: of([usage.serviceTier, 'unheard-of']),
      region: of([usage.region, 'moon']),
    }
    const held = holdTermsOf(price, reach)
    const most = mostCostOf(held.price, promptTokensOf(usage), usage.outputTokens) + held.fixedCost
    const charged = costWithTerms(chargeTermsOf(price, reach, usage, reported), usage)
    if (charged > most) assert.fail(`${charged} of ${most}: ${JSON.stringify([written, reach, reported])}`)
  }
})
