import type { Price } from '../prices/price.ts'
import {
  unitFactor,
  type Factor,
  type PriceRules,
  type PriceStep,
  type SteppedPrices,
  type TokenPrices,
} from '../prices/rules.ts'
import type { ListedField, ListedPlace, ListedRule } from './list-entry.ts'

/** The rules of a price, and what the list charges for that they cannot have. */
interface RulesOnList {
  readonly rules: PriceRules | undefined
  readonly unpriced: readonly ListedField[]
}

/** An amount of the list, in 10⁻¹² of the currency unit per token, or per image or search. Throws a RangeError. */
type Amounts = Readonly<Record<'ofTokens' | 'ofUse', (rule: ListedRule) => bigint>>

const tokenParts = ['input', 'output', 'cachedInput', 'cacheWrite', 'cacheWriteHour'] as const
type TokenPart = (typeof tokenParts)[number]

interface Stated {
  readonly part: TokenPart
  readonly above: number | undefined
  readonly amount: bigint
}

/**
 * The rules that a list states, on top of those in force that it says nothing about. A part that it does not state at a step costs what it costs at the first one, and in a
 * service tier what it costs in the standard one.
 */
export function rulesOnList(
  listed: readonly ListedRule[],
  { rules: before, ...price }: Price,
  { ofTokens, ofUse }: Amounts,
): RulesOnList {
  const statedIn = (each: readonly ListedRule[]) =>
    each.flatMap(({ place, ...rule }): Stated[] =>
      isOfTokens(place.part) ? [{ part: place.part, above: place.above, amount: ofTokens({ place, ...rule }) }] : [],
    )
  const useOf = (part: ListedPlace['part']) => listed.filter(({ place }) => place.part === part).map(ofUse)[0]
  const byTier = Map.groupBy(listed, ({ place }) => place.tier)
  const { input, output, cachedInput, cacheWrite } = price
  const first = { input, output, cachedInput, cacheWrite, cacheWriteHour: before?.cacheWriteHour }
  const ofStandard = statedIn(byTier.get(undefined) ?? [])
  const hasSteps = ofStandard.some(({ above }) => above !== undefined)
  const standard = cardOf(ofStandard, { ...first, steps: hasSteps ? undefined : before?.steps })
  const tiers = [...byTier].flatMap(([name, rules]) =>
    name === undefined ? [] : [{ name, rules, stated: statedIn(rules) }],
  )
  const whole = tiers.filter(({ stated }) => isWhole(stated))
  const [image, search] = [useOf('image') ?? before?.image, useOf('webSearch')]
  const serviceTiers = {
    ...before?.serviceTiers,
    ...Object.fromEntries(whole.map(({ name, stated }) => [name, tierOf(stated, standard)])),
  }
  const rules: PriceRules = {
    ...before,
    ...(typeof standard.cacheWriteHour === 'bigint' && { cacheWriteHour: standard.cacheWriteHour }),
    ...(standard.steps && { steps: standard.steps }),
    ...(Object.keys(serviceTiers).length > 0 && { serviceTiers }),
    ...(image !== undefined && { image }),
    ...(search !== undefined && { tools: { ...before?.tools, web_search: search } }),
  }
  const others = tiers.filter(({ stated }) => !isWhole(stated)).flatMap((each) => each.rules)
  return {
    rules: Object.keys(rules).length === 0 ? undefined : rules,
    unpriced: others.map(({ field, value }) => ({ field, value })),
  }
}

/** A service tier without a price of its output, or of its input, has no place in a price. */
const isWhole = (stated: readonly Stated[]): boolean =>
  (['input', 'output'] as const).every((part) => stated.some((each) => each.part === part && each.above === undefined))

const isOfTokens = (part: ListedPlace['part']): part is TokenPart => tokenParts.some((each) => each === part)

/** The stated prices, and for the others those of `base`, with its other steps. */
function cardOf(stated: readonly Stated[], { steps: baseSteps = [], ...base }: SteppedPrices): SteppedPrices {
  const first = rowOf(
    stated.filter(({ above }) => above === undefined),
    base,
  )
  const ofSteps = stated.flatMap((each) => (each.above === undefined ? [] : [{ ...each, above: each.above }]))
  const steps = [...Map.groupBy(ofSteps, ({ above }) => above)].map(([above, each]): PriceStep => {
    const same = baseSteps.find((step) => step.above === above)
    return { ...rowOf(each, same ?? first), above }
  })
  const others = baseSteps.filter(({ above }) => !steps.some((step) => step.above === above))
  const all = [...steps, ...others].toSorted((one, other) => one.above - other.above)
  return { ...first, ...(all.length > 0 && { steps: all }) }
}

function rowOf(stated: readonly Stated[], base: TokenPrices): TokenPrices {
  const priceOf = (part: TokenPart) => stated.find((each) => each.part === part)?.amount ?? base[part]
  const input = priceOf('input') ?? 0n
  const cachedInput = priceOf('cachedInput')
  return {
    input,
    output: priceOf('output') ?? 0n,
    // Cached input never costs more than input.
    cachedInput: cachedInput && cachedInput > input ? input : cachedInput,
    cacheWrite: priceOf('cacheWrite'),
    cacheWriteHour: priceOf('cacheWriteHour'),
  }
}

/**
 * A factor if the list states every standard price for the tier too, each as the same multiple: a factor would also change prices that the
 * list does not state for the tier.
 */
function tierOf(stated: readonly Stated[], standard: SteppedPrices): Factor | SteppedPrices {
  const rows = [standard, ...(standard.steps ?? [])]
  const factors = new Set(
    stated.map(({ part, above, amount }) => {
      const price = (above === undefined ? standard : standard.steps?.find((step) => step.above === above))?.[part]
      return price && (amount * unitFactor) % price === 0n ? (amount * unitFactor) / price : undefined
    }),
  )
  const [factor] = factors
  const isStated = rows.every((row) =>
    tokenParts.every((part) => {
      const above = 'above' in row ? row.above : undefined
      return !row[part] || stated.some((each) => each.part === part && each.above === above)
    }),
  )
  const isExact = (by: bigint) =>
    rows.every((row) => tokenParts.every((part) => ((row[part] ?? 0n) * by) % unitFactor === 0n))
  return isStated && factors.size === 1 && factor !== undefined && isExact(factor)
    ? { factor }
    : cardOf(stated, standard)
}
