import { price } from '../../platform/config/values.ts'
import type { Price } from './price.ts'
import { formatDecimal, parseDecimal } from '../../platform/text/decimal.ts'
import { formatPrice, writtenRules, type WrittenRules } from './written-rules.ts'

export { formatPrice, writtenRules } from './written-rules.ts'

/** Decimals of an amount: it is an integer in 10⁻¹² of the currency unit. */
const moneyDecimals = 12

/** `25.00` → 10⁻¹² of the unit. Throws a RangeError that names the correct form. */
export function parseMoney(text: string): bigint {
  return parseDecimal(text, moneyDecimals)
}

/** The shortest exact decimal of an amount in 10⁻¹² of the unit. */
export function formatMoney(amount: bigint): string {
  return formatDecimal(amount, moneyDecimals)
}

/** `0.10` per million tokens → millionths, which is 10⁻¹² of the unit per token. Throws RangeError as above. */
export function parsePrice(text: string): bigint {
  return price.parse(text)
}

/** The parts of a price as decimals, per million tokens where nothing else is said, without those that it lacks. */
export type WrittenPrice = WrittenTokenPrices & WrittenRules

type WrittenTokenPrices = {
  readonly input: string
  readonly output: string
  readonly cached_input?: string
  readonly cache_write?: string
}

export const writtenPrice = (whole: Price): WrittenPrice => ({
  ...writtenTokenPrices(whole),
  ...writtenRules(whole.rules),
})

/** Without the rules. */
export function writtenTokenPrices({ input, output, cachedInput, cacheWrite }: Price): WrittenTokenPrices {
  return {
    input: formatPrice(input),
    output: formatPrice(output),
    ...(typeof cachedInput === 'bigint' && { cached_input: formatPrice(cachedInput) }),
    ...(typeof cacheWrite === 'bigint' && { cache_write: formatPrice(cacheWrite) }),
  }
}
