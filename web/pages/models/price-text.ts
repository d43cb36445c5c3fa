import type { ConfiguredModelJson } from '../../../src/models/schema.ts'
import { moneyText } from '../../money.ts'

type Price = NonNullable<ConfiguredModelJson['price']>

/** What a price has besides its four prices per million tokens. */
export function rulesOf(price: Price | null): Omit<Price, 'input' | 'output' | 'cached_input' | 'cache_write'> {
  if (price === null) return {}
  const { input: _, output: __, cached_input: ___, cache_write: ____, ...rules } = price
  return rules
}

export const hasRules = (price: Price | null): boolean => Object.keys(rulesOf(price)).length > 0

/** The parts of a price on one line: its four prices, and the names of its rules. */
export function priceText(price: Price, currency: string): string {
  const { input, output, cached_input: cached, cache_write: write } = price
  return [
    `${moneyText(input, currency)} in`,
    // Embeddings have no output. Output of text costs more than its input, so never nothing.
    ...(Number(output) === 0 ? [] : [`${moneyText(output, currency)} out`]),
    ...(cached === undefined ? [] : [`${moneyText(cached, currency)} cached in`]),
    ...(write === undefined ? [] : [`${moneyText(write, currency)} for cache writes`]),
    ...ruleNames.flatMap(([name, text]) => (price[name] === undefined ? [] : [text])),
  ].join(', ')
}

const ruleNames = [
  ['cache_write_1h', 'longer cache writes'],
  ['steps', 'steps by length'],
  ['service_tiers', 'service tiers'],
  ['regions', 'regions'],
  ['image', 'images'],
  ['tools', 'searches'],
] as const
