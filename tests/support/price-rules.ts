import { parsePrice } from '../../src/billing/prices/money.ts'
import { costOf } from '../../src/billing/prices/price.ts'
import type { Price } from '../../src/billing/prices/prices.ts'
import { readPriceRules } from '../../src/billing/prices/read-rules.ts'
import {
  chargeTermsOf,
  costWithTerms,
  hasRules,
  type Reach,
  type ReportedTerms,
} from '../../src/billing/prices/terms.ts'
import type { WrittenPrice } from '../../src/billing/prices/money.ts'
import type { ChargedTokens } from '../../src/billing/till/till.ts'

/** A price as the configuration has it. */
export function priceIn({ input, output, cached_input: cached, cache_write: write, ...rules }: WrittenPrice): Price {
  return {
    input: parsePrice(input),
    output: parsePrice(output),
    cachedInput: cached === undefined ? null : parsePrice(cached),
    cacheWrite: write === undefined ? null : parsePrice(write),
    rules: readPriceRules(rules),
    number: 7n,
  }
}

/** A reply as an upstream reports it. */
export interface ReportedUsage extends ChargedTokens, ReportedTerms {
  readonly images: number
}

/** A request that can reach just what its reply used. */
export const reachFor = ({
  images,
  tools = {},
  hourWriteTokens = 0,
  serviceTier,
  region,
  ...tokens
}: ReportedUsage): Reach => ({
  promptTokens: tokens.inputTokens + tokens.cachedTokens + tokens.cacheWriteTokens,
  images,
  tools,
  hourWrites: hourWriteTokens > 0,
  serviceTier,
  region,
})

/** What Tollgate charges for it, in 10⁻¹² of the currency unit. */
export function chargedFor(price: Price, usage: ReportedUsage, reach: Reach = reachFor(usage)): bigint {
  if (!hasRules(price)) return costOf(price, usage)
  return costWithTerms(chargeTermsOf(price, reach, usage, usage), usage)
}

/** Seeded pseudo-random numbers (mulberry32): several per case are needed for a million of cases. */
export function createNumbers(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (most: number): number => Math.floor(next() * most)
  return {
    below,
    chance: (share: number): boolean => next() < share,
    of: <Value>(values: readonly [Value, ...Value[]]): Value => values[below(values.length)] ?? values[0],
  }
}
export type Numbers = ReturnType<typeof createNumbers>

/** With two decimals, so that two factors leave no more than six. */
const decimal = (cents: number): string => (cents / 100).toFixed(2)

function tokenPrices({ below, chance }: Numbers) {
  const input = below(2000)
  const write = chance(0.5) ? below(2 * input + 1) : undefined
  return {
    input: decimal(input),
    output: decimal(input + 1 + below(8000)),
    ...(chance(0.7) && { cached_input: decimal(below(input + 1)) }),
    ...(write !== undefined && { cache_write: decimal(write) }),
    ...(chance(0.5) && { cache_write_1h: decimal((write ?? input) + below(2000)) }),
  }
}

function steps(numbers: Numbers) {
  const { below, chance } = numbers
  if (chance(0.4)) return {}
  let above = 0
  return {
    steps: Array.from({ length: 1 + below(3) }, () => ({ above: (above += 1 + below(300)), ...tokenPrices(numbers) })),
  }
}

/** A price of any kind. */
export function drawPrice(numbers: Numbers): WrittenPrice {
  const { below, chance, of } = numbers
  const factor = () => of(['0.5', '0.25', '2', '1.1', '1.5', '1'])
  const tier = () => (chance(0.5) ? { factor: factor() } : { ...tokenPrices(numbers), ...steps(numbers) })
  return {
    ...tokenPrices(numbers),
    ...steps(numbers),
    ...(chance(0.6) && { service_tiers: { flex: tier(), ...(chance(0.5) && { priority: tier() }) } }),
    ...(chance(0.4) && { regions: { us: factor(), ...(chance(0.5) && { eu: factor() }) } }),
    image: `0.${String(below(1_000_000_000)).padStart(9, '0')}`,
    ...(chance(0.5) && { tools: { web_search: `0.0${below(1000)}` } }),
  }
}

/** A usage that can be priced by it, with a prompt around its steps. */
export function drawUsage({ below, chance, of }: Numbers, price: WrittenPrice): ReportedUsage {
  const tokens = (share: number) => (chance(share) ? below(500) : 0)
  const cacheWriteTokens = tokens(0.4)
  const tier = of([undefined, 'default', ...Object.keys(price.service_tiers ?? {})])
  return {
    inputTokens: tokens(0.9),
    outputTokens: below(1000),
    cachedTokens: tokens(0.4),
    cacheWriteTokens,
    hourWriteTokens: chance(0.5) ? below(cacheWriteTokens + 1) : 0,
    serviceTier: tier,
    region: of([undefined, 'global', ...Object.keys(price.regions ?? {})]),
    images: chance(0.3) ? below(20) : 0,
    tools: price.tools && chance(0.6) ? { web_search: below(10) } : {},
  }
}

/**
 * The same charge by another way: from the texts of the price, with one fraction for all of it. Undefined is the standard tier, or no
 * region.
 */
export function independentCost(price: WrittenPrice, usage: ReportedUsage): bigint {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, hourWriteTokens = 0, images, tools = {} } = usage
  const tier = price.service_tiers?.[usage.serviceTier ?? '']
  const card = tier && 'input' in tier ? tier : price
  const length = inputTokens + cachedTokens + cacheWriteTokens
  let row: { input: string; output: string; cached_input?: string; cache_write?: string; cache_write_1h?: string } =
    card
  for (const step of card.steps ?? []) if (length > step.above) row = step
  const write = row.cache_write ?? row.input
  const perMillion: [number, string][] = [
    [inputTokens, row.input],
    [outputTokens, row.output],
    [cachedTokens, row.cached_input ?? row.input],
    [cacheWriteTokens - hourWriteTokens, write],
    [hourWriteTokens, row.cache_write_1h ?? write],
  ]
  const factors = [tier && 'factor' in tier ? tier.factor : '1', price.regions?.[usage.region ?? ''] ?? '1']
  const each: [number, string][] = [
    [images, price.image ?? '0'],
    [tools.web_search ?? 0, price.tools?.web_search ?? '0'],
  ]
  // In 10⁻¹⁸, times the denominators of two factors: 10¹².
  const ofTokens = perMillion.reduce((sum, [count, text]) => sum + BigInt(count) * scaled(text, 12), 0n)
  const product = factors.reduce((value, factor) => value * scaled(factor, 6), ofTokens)
  const ofUses = each.reduce((sum, [count, text]) => sum + BigInt(count) * scaled(text, 12), 0n)
  const unit = 10n ** 18n
  if (product % unit !== 0n) throw new Error('not a whole number of 10⁻¹²')
  return product / unit + ofUses
}

function scaled(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
