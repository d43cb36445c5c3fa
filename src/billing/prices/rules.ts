/** Prices of tokens, in 10⁻¹² of the currency unit each. A kind that is null or absent has the price that its comment names. */
export interface TokenPrices {
  readonly input: bigint
  readonly output: bigint
  /** As input. */
  readonly cachedInput?: bigint | null | undefined
  /** As input. */
  readonly cacheWrite?: bigint | null | undefined
  /** Writes to a cache that keeps them for an hour: as other cache writes. */
  readonly cacheWriteHour?: bigint | null | undefined
}

/** The prices of all tokens of a request whose prompt has more tokens than `above`. */
export interface PriceStep extends TokenPrices {
  readonly above: number
}

/** The first step, and the further ones by their `above`. */
export interface SteppedPrices extends TokenPrices {
  readonly steps?: readonly PriceStep[] | undefined
}

/** A multiplier in millionths. */
export interface Factor {
  readonly factor: bigint
}

/** What a price has besides the four prices of its tokens. */
export interface PriceRules extends Pick<SteppedPrices, 'cacheWriteHour' | 'steps'> {
  /** By the names that the vendor reports: a multiplier of the standard prices, or prices of their own. */
  readonly serviceTiers?: Readonly<Record<string, Factor | SteppedPrices>> | undefined
  /** By the names that the vendor reports: multipliers in millionths of the prices of tokens. */
  readonly regions?: Readonly<Record<string, bigint>> | undefined
  /** In 10⁻¹² of the currency unit for each image of the request. */
  readonly image?: bigint | undefined
  /** In 10⁻¹² of the currency unit for each use of a tool that the vendor runs. */
  readonly tools?: Readonly<Partial<Record<VendorTool, bigint>>> | undefined
}

/** The tools of vendors that can have a price, and so be used. */
export const vendorTools = ['web_search'] as const
export type VendorTool = (typeof vendorTools)[number]

/** A service tier or a region, as a price can have it. */
export const vendorName = /^[A-Za-z0-9][\w.-]{0,63}$/

/** The names under which vendors report the standard service tier, and no region in particular. */
export const standardTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand'])
export const anyRegion: ReadonlySet<string> = new Set(['global', 'not_available'])

/** The service tier of requests in the background, where a price has it. No other request can ask for it. */
export const backgroundTier = 'batch'

export const unitFactor = 1_000_000n

export const isFactor = (tier: Factor | SteppedPrices): tier is Factor => 'factor' in tier

/** The prices of tokens after a factor. A rule of prices ensures that they are whole numbers. */
export function multiplied<Prices extends TokenPrices>(prices: Prices, factor: bigint): Prices {
  if (factor === unitFactor) return prices
  const times = (price: bigint | null | undefined) =>
    typeof price === 'bigint' ? (price * factor) / unitFactor : price
  return {
    ...prices,
    input: (prices.input * factor) / unitFactor,
    output: (prices.output * factor) / unitFactor,
    cachedInput: times(prices.cachedInput),
    cacheWrite: times(prices.cacheWrite),
    cacheWriteHour: times(prices.cacheWriteHour),
  }
}

/** The step of a prompt with as many tokens. */
export function stepFor(prices: SteppedPrices, promptTokens: number): TokenPrices & Partial<PriceStep> {
  return prices.steps?.findLast(({ above }) => promptTokens > above) ?? prices
}
