import type { ConfiguredModelJson } from '../../../src/models/schema.ts'
import { moneyText } from '../../money.ts'

/** All parts of a price, on one line. */
export function priceText(price: NonNullable<ConfiguredModelJson['price']>, currency: string): string {
  const { input, output, cached_input: cached, cache_write: write } = price
  return [
    `${moneyText(input, currency)} in`,
    // Embeddings have no output. Output of text costs more than its input, so never nothing.
    ...(Number(output) === 0 ? [] : [`${moneyText(output, currency)} out`]),
    ...(cached === undefined ? [] : [`${moneyText(cached, currency)} cached in`]),
    ...(write === undefined ? [] : [`${moneyText(write, currency)} for cache writes`]),
  ].join(', ')
}
