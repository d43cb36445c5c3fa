import { price } from '../../platform/config/values.ts'
import type { Price } from './price.ts'
import { formatDecimal, parseDecimal } from '../../platform/text/decimal.ts'

/** Decimals of an amount: it is an integer in 10⁻¹² of the currency unit. */
const moneyDecimals = 12
/** Decimals of a price per million tokens, which is 10⁻¹² of the unit per token. */
const priceDecimals = 6

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

/** The parts of a price as decimals per million tokens, without those that it lacks. */
export interface WrittenPrice {
  readonly input: string
  readonly output: string
  readonly cached_input?: string
  readonly cache_write?: string
}

export function writtenPrice({ input, output, cachedInput, cacheWrite }: Price): WrittenPrice {
  return {
    input: formatPrice(input),
    output: formatPrice(output),
    ...(typeof cachedInput === 'bigint' && { cached_input: formatPrice(cachedInput) }),
    ...(typeof cacheWrite === 'bigint' && { cache_write: formatPrice(cacheWrite) }),
  }
}

/** A price in 10⁻¹² of the unit per token, as a decimal per million tokens. */
export function formatPrice(amount: bigint): string {
  return formatDecimal(amount, priceDecimals)
}
