import { costOf, type Price } from './price.ts'
import {
  anyRegion,
  isFactor,
  multiplied,
  standardTiers,
  stepFor,
  unitFactor,
  vendorTools,
  type PriceRules,
  type PriceStep,
  type SteppedPrices,
  type TokenPrices,
  type VendorTool,
} from './rules.ts'
import { promptTokensOf, type ChargedTokens } from './tokens.ts'

/** A price with rules, as it is in force. */
export type PriceWithRules = Price & { readonly rules: PriceRules }

export const hasRules = (price: Price): price is PriceWithRules => (price.rules ?? null) !== null

/** How often a request uses tools that the vendor runs. */
export type ToolUses = Readonly<Partial<Record<VendorTool, number>>>

/** What a request can reach of the rules of a price. */
export interface Reach {
  /** An upper bound, whatever its upstream will count. */
  readonly promptTokens: number
  readonly images: number
  /** Whether it asks for a cache that keeps its prompt for an hour. */
  readonly hourWrites: boolean
  /** The most uses of each tool that it may use. */
  readonly tools: ToolUses
  /** The service tier that it asks for. The vendor may then answer with that or the standard one. Default: with any. */
  readonly serviceTier?: string | undefined
  /** The region that it asks for. Default: any. */
  readonly region?: string | undefined
}

/** What an upstream reported of a reply besides its tokens. */
export interface ReportedTerms {
  readonly serviceTier?: string | undefined
  readonly region?: string | undefined
  /** How many of the tokens that were written to a cache it keeps for an hour. */
  readonly hourWriteTokens?: number | undefined
  readonly tools?: ToolUses | undefined
}

/** What the till holds: the highest prices that a request can reach, and what it can cost besides its tokens. */
export interface HoldTerms {
  readonly price: Price
  readonly fixedCost: bigint
}

/** How the rules of a price applied to a reply: the prices of the four kinds of tokens, which are columns of the ledger, and the rest. */
export interface ChargeTerms {
  readonly prices: Price
  readonly kept: KeptTerms
}

/** As the ledger has it. Amounts are in 10⁻¹² of the currency unit. */
export interface KeptTerms {
  /** The number of the price. */
  readonly price: number
  /** The service tier and the region whose prices applied; absent: the standard ones. */
  readonly tier?: string
  readonly region?: string
  /** The `above` of the step that applied, if the prompt was so long that a further step, which was not held, would have. */
  readonly step?: number
  /** Of the tokens written to a cache: those that it keeps for an hour, and what each costs more than others. */
  readonly cache_write_1h?: readonly [tokens: number, more: number]
  /** Images and uses of tools by name, and the price of each. */
  readonly uses?: Readonly<Record<string, readonly [count: number, price: number]>>
  /** What was charged besides the four kinds of tokens. */
  readonly cost: string
}

/** What the ledger calls the images of a request among its uses. */
const imageUse = 'image'

interface Choice {
  readonly name: string | undefined
  readonly factor: bigint
}

interface TierChoice extends Choice {
  readonly prices: SteppedPrices
}

/** A way in which the rules of a price can apply to a reply. */
interface Way {
  readonly tier: TierChoice
  readonly region: Choice
  readonly step: TokenPrices & Partial<PriceStep>
  readonly prices: TokenPrices
}

/** The most that a request can reach. The prices cover each kind of token at every step, service tier and region. */
export function holdTermsOf(price: PriceWithRules, reach: Reach): HoldTerms {
  let [ofPrompt, ofOutput] = [0n, 0n]
  for (const tier of reachedTiers(price, reach)) {
    for (const region of reachedRegions(price.rules, reach)) {
      for (const step of reachedSteps(tier.prices, reach.promptTokens)) {
        const prices = multiplied(multiplied(step, tier.factor), region.factor)
        ofPrompt = highest(ofPrompt, dearestOfPrompt(prices, reach))
        ofOutput = highest(ofOutput, prices.output)
      }
    }
  }
  return {
    price: { input: ofPrompt, output: ofOutput },
    fixedCost: fixedCostOf(price.rules, reach.images, reach.tools),
  }
}

/**
 * The prices and the rest by which a reply is charged, at most what was held. If the vendor reports a service tier or a region that was not held, the reply
 * costs as much as with the dearest of those that were. A prompt that is longer than was possible has the prices of the longest possible one. More
 * uses of a tool than the request allows are not charged. `strange` names each of these that occurred.
 */
export function chargeTermsOf(
  price: PriceWithRules,
  reach: Reach,
  tokens: ChargedTokens,
  reported: ReportedTerms,
): ChargeTerms & { readonly strange: readonly string[] } {
  const { rules } = price
  const strange: string[] = []
  const tiers = possible(reachedTiers(price, reach), reported.serviceTier, standardTiers, (name) =>
    strange.push(`service tier ${name}`),
  )
  const regions = possible(reachedRegions(rules, reach), reported.region, anyRegion, (name) =>
    strange.push(`region ${name}`),
  )
  const prompt = promptTokensOf(tokens)
  const held = Math.min(prompt, reach.promptTokens)
  const hourWrites = reach.hourWrites ? Math.min(reported.hourWriteTokens ?? 0, tokens.cacheWriteTokens) : 0
  const costIn = (way: Way) => costOf(way.prices, tokens) + moreOf(way, hourWrites)
  const { tier, region, step, prices } = tiers
    .flatMap((each) => regions.map((other) => wayOf(each, other, held)))
    .reduce((dearest, each) => (costIn(each) > costIn(dearest) ? each : dearest))
  const isBeyond = stepFor(tier.prices, prompt).above !== step.above
  if (isBeyond) strange.push('prompt length')
  const more = hourWrites === 0 ? 0n : moreOf({ prices }, 1)
  const tools = usedWithin(reported.tools ?? {}, reach.tools, (tool) => strange.push(`uses of ${tool}`))
  const uses = usesOf(rules, reach.images, tools)
  const kept: KeptTerms = {
    price: Number(price.number ?? 0),
    ...(tier.name !== undefined && { tier: tier.name }),
    ...(region.name !== undefined && { region: region.name }),
    ...(isBeyond && { step: step.above ?? 0 }),
    ...(more > 0n && { cache_write_1h: [hourWrites, Number(more)] as const }),
    ...(uses.length > 0 && {
      uses: Object.fromEntries(uses.map(([name, count, each]) => [name, [count, Number(each)]])),
    }),
    cost: String(BigInt(hourWrites) * more + fixedCostOf(rules, reach.images, tools)),
  }
  const { input, output, cachedInput, cacheWrite } = prices
  return { prices: { input, output, cachedInput, cacheWrite }, kept, strange }
}

/** What a reply costs with its terms, in 10⁻¹² of the currency unit. */
export const costWithTerms = ({ prices, kept }: ChargeTerms, tokens: ChargedTokens): bigint =>
  costOf(prices, tokens) + BigInt(kept.cost)

function reachedTiers(price: PriceWithRules, { serviceTier }: Reach): readonly [TierChoice, ...TierChoice[]] {
  const { cacheWriteHour, steps, serviceTiers = {} } = price.rules
  const { input, output, cachedInput, cacheWrite } = price
  const standard = { input, output, cachedInput, cacheWrite, cacheWriteHour, steps }
  const further = Object.entries(serviceTiers)
    .filter(([name]) => serviceTier === undefined || name === serviceTier)
    .map(([name, tier]): TierChoice =>
      isFactor(tier) ? { name, factor: tier.factor, prices: standard } : { name, factor: unitFactor, prices: tier },
    )
  return [{ name: undefined, factor: unitFactor, prices: standard }, ...further]
}

function reachedRegions({ regions = {} }: PriceRules, { region }: Reach): readonly [Choice, ...Choice[]] {
  const further = Object.entries(regions).filter(([name]) => region === undefined || name === region)
  return [{ name: undefined, factor: unitFactor }, ...further.map(([name, factor]) => ({ name, factor }))]
}

const reachedSteps = ({ steps = [], ...first }: SteppedPrices, promptTokens: number): TokenPrices[] => [
  first,
  ...steps.filter(({ above }) => promptTokens > above),
]

function wayOf(tier: TierChoice, region: Choice, promptTokens: number): Way {
  const step = stepFor(tier.prices, promptTokens)
  return { tier, region, step, prices: multiplied(multiplied(step, tier.factor), region.factor) }
}

/** What tokens that are written to a cache for an hour cost more than as many others. */
function moreOf({ prices: { input, cacheWrite, cacheWriteHour } }: Pick<Way, 'prices'>, hourWrites: number): bigint {
  const write = cacheWrite ?? input
  return BigInt(hourWrites) * ((cacheWriteHour ?? write) - write)
}

/** The one of the held choices that the vendor reports. All of them, if it reports another one. */
function possible<Of extends Choice>(
  choices: readonly [Of, ...Of[]],
  reported: string | undefined,
  standard: ReadonlySet<string>,
  isStrange: (name: string) => void,
): readonly [Of, ...Of[]] {
  const [first, ...further] = choices
  const named = further.find(({ name }) => name === reported)
  if (named || reported === undefined || standard.has(reported)) return [named ?? first]
  isStrange(reported)
  return choices
}

/** Uses beyond those that the request allows were not held, so they are not charged. */
function usedWithin(used: ToolUses, most: ToolUses, isStrange: (tool: VendorTool) => void): ToolUses {
  const counts = vendorTools.map((tool): [VendorTool, number] => {
    const [count = 0, allowed = 0] = [used[tool], most[tool]]
    if (count > allowed) isStrange(tool)
    return [tool, Math.min(count, allowed)]
  })
  return Object.fromEntries(counts)
}

function usesOf({ image, tools = {} }: PriceRules, images: number, uses: ToolUses): [string, number, bigint][] {
  const ofImages: [string, number, bigint][] = image !== undefined && images > 0 ? [[imageUse, images, image]] : []
  const ofTools = vendorTools.flatMap((tool): [string, number, bigint][] => {
    const [count = 0, each] = [uses[tool], tools[tool]]
    return each !== undefined && count > 0 ? [[tool, count, each]] : []
  })
  return [...ofImages, ...ofTools]
}

const fixedCostOf = (rules: PriceRules, images: number, uses: ToolUses): bigint =>
  usesOf(rules, images, uses).reduce((sum, [, count, each]) => sum + BigInt(count) * each, 0n)

function dearestOfPrompt(
  { input, cachedInput, cacheWrite, cacheWriteHour }: TokenPrices,
  { hourWrites }: Reach,
): bigint {
  const others = [cachedInput, cacheWrite, hourWrites ? cacheWriteHour : null]
  return others.reduce<bigint>((dearest, each) => highest(dearest, each ?? 0n), input)
}

const highest = (one: bigint, other: bigint): bigint => (other > one ? other : one)
