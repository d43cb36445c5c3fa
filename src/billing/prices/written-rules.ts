import { formatDecimal } from '../../platform/text/decimal.ts'
import { isFactor, type PriceRules, type SteppedPrices, type TokenPrices, type VendorTool } from './rules.ts'

/** Decimals of a price per million tokens, which is 10⁻¹² of the unit per token, and of a factor. */
const priceDecimals = 6
/** Decimals of a price per image or use. */
const useDecimals = 12

/** A price in 10⁻¹² of the unit per token, as a decimal per million tokens. */
export const formatPrice = (amount: bigint): string => formatDecimal(amount, priceDecimals)

interface WrittenPrices {
  readonly input: string
  readonly output: string
  readonly cached_input?: string
  readonly cache_write?: string
  readonly cache_write_1h?: string
}

interface WrittenStep extends WrittenPrices {
  readonly above: number
}

/** The rules of a price as the configuration has them: prices as decimals per million tokens, per image or per use. */
export interface WrittenRules {
  readonly cache_write_1h?: string
  readonly steps?: WrittenStep[]
  readonly service_tiers?: Record<
    string,
    { readonly factor: string } | (WrittenPrices & { readonly steps?: WrittenStep[] })
  >
  readonly regions?: Record<string, string>
  readonly image?: string
  readonly tools?: Partial<Record<VendorTool, string>>
}

/** Without what they lack, always in the same order. */
export function writtenRules(rules: PriceRules | null | undefined): WrittenRules {
  const { cacheWriteHour, serviceTiers, regions, image, tools } = rules ?? {}
  return {
    ...(typeof cacheWriteHour === 'bigint' && { cache_write_1h: formatPrice(cacheWriteHour) }),
    ...stepsOf(rules ?? {}),
    ...(serviceTiers && {
      service_tiers: mapped(serviceTiers, (tier) =>
        isFactor(tier) ? { factor: formatPrice(tier.factor) } : { ...pricesOf(tier), ...stepsOf(tier) },
      ),
    }),
    ...(regions && { regions: mapped(regions, formatPrice) }),
    ...(image !== undefined && { image: formatDecimal(image, useDecimals) }),
    ...(tools && { tools: mapped(tools, (each) => formatDecimal(each, useDecimals)) }),
  }
}

/** Whether two prices have the same rules. */
export const isSameRules = (one: PriceRules | null | undefined, other: PriceRules | null | undefined): boolean =>
  one === other || JSON.stringify(writtenRules(one)) === JSON.stringify(writtenRules(other))

const stepsOf = ({ steps }: Pick<SteppedPrices, 'steps'>) =>
  steps && { steps: steps.map(({ above, ...prices }) => ({ above, ...pricesOf(prices) })) }

const pricesOf = ({ input, output, cachedInput, cacheWrite, cacheWriteHour }: TokenPrices): WrittenPrices => ({
  input: formatPrice(input),
  output: formatPrice(output),
  ...(typeof cachedInput === 'bigint' && { cached_input: formatPrice(cachedInput) }),
  ...(typeof cacheWrite === 'bigint' && { cache_write: formatPrice(cacheWrite) }),
  ...(typeof cacheWriteHour === 'bigint' && { cache_write_1h: formatPrice(cacheWriteHour) }),
})

/** In the order of the names. */
export const mapped = <From, To>(
  from: Readonly<Partial<Record<string, From>>>,
  to: (value: From) => To,
): Record<string, To> =>
  Object.fromEntries(
    Object.entries(from)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, value]) => (value === undefined ? [] : [[name, to(value)]])),
  )
