import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { join, type ReportConfigError } from '../../platform/config/check.ts'
import { everyPrice, type PriceRulesSettings } from '../../platform/config/price-settings.ts'
import type { Price } from './price.ts'
import {
  anyRegion,
  isFactor,
  multiplied,
  standardTiers,
  unitFactor,
  vendorName,
  type Factor,
  type PriceRules,
  type SteppedPrices,
  type TokenPrices,
} from './rules.ts'
import { formatPrice, mapped } from './written-rules.ts'

const Models = Type.Object({ models: Type.Array(Type.Unknown()) })
const Priced = Type.Object({ price: Type.Object(everyPrice) })

/** A price as the configuration has it. */
interface ConfiguredPrice extends PriceRulesSettings {
  readonly input: bigint
  /** Absent for an embedding model, which has none. */
  readonly output?: bigint
  readonly cached_input?: bigint
  readonly cache_write?: bigint
}

/** The price of settings without faults. */
export const priceOf = (configured: ConfiguredPrice): Price => {
  const { input, output = 0n, cached_input: cachedInput, cache_write: cacheWrite, ...rules } = configured
  return { input, output, cachedInput, cacheWrite, rules: rulesOf(rules) }
}

/** Undefined if the settings have none. */
export function rulesOf(settings: PriceRulesSettings): PriceRules | undefined {
  const { cache_write_1h: cacheWriteHour, steps, service_tiers: tiers, regions, image, tools } = settings
  const rules = {
    ...(cacheWriteHour !== undefined && { cacheWriteHour }),
    ...(steps && { steps: steps.map(stepOf) }),
    ...(tiers && filled({ serviceTiers: mapped(tiers, tierOf) })),
    ...(regions && filled({ regions })),
    ...(image !== undefined && { image }),
    ...(tools && filled({ tools })),
  }
  return Object.keys(rules).length === 0 ? undefined : rules
}

type TierSettings = NonNullable<PriceRulesSettings['service_tiers']>[string]
type StepSettings = NonNullable<PriceRulesSettings['steps']>[number]

function tierOf({ factor, input = 0n, output = 0n, steps, ...cache }: TierSettings): Factor | SteppedPrices {
  if (factor !== undefined) return { factor }
  return { ...tokenPricesOf({ input, output, ...cache }), ...(steps && { steps: steps.map(stepOf) }) }
}

const stepOf = ({ above, ...prices }: StepSettings) => ({ above, ...tokenPricesOf(prices) })

const tokenPricesOf = (prices: Omit<StepSettings, 'above'>): TokenPrices => ({
  input: prices.input,
  output: prices.output,
  cachedInput: prices.cached_input,
  cacheWrite: prices.cache_write,
  cacheWriteHour: prices.cache_write_1h,
})

/** A group without entries says nothing. */
const filled = <Group extends object>(group: Group): Partial<Group> =>
  Object.values(group).every((inner: object) => Object.keys(inner).length === 0) ? {} : group

/** What is wrong with a price: the path of a setting within it, and what that must be. */
export interface PriceFault {
  readonly field: string
  readonly must: string
}

/** A hold considers all combinations. */
const most = { steps: 8, service_tiers: 8, regions: 8 }

/** The faults of settings of rules that each value alone does not show. Without any, they are the rules of a price. */
export function rulesFaults(settings: PriceRulesSettings): PriceFault[] {
  const { steps = [], service_tiers: tiers = {}, regions = {} } = settings
  return [
    ...stepFaults(steps, 'steps'),
    ...countFaults('service_tiers', tiers),
    ...countFaults('regions', regions),
    ...Object.entries(tiers).flatMap(([tier, prices]) => tierFaults(tier, prices)),
    ...Object.keys(regions).flatMap((region) =>
      nameFaults('regions', region, anyRegion, "the vendor's word for no region"),
    ),
  ]
}

function tierFaults(tier: string, { factor, steps, ...prices }: TierSettings): PriceFault[] {
  const path = join('service_tiers', tier)
  const faults = nameFaults(
    'service_tiers',
    tier,
    standardTiers,
    'the standard tier, whose prices are the price itself',
  )
  const named = Object.values(prices).some((price) => price !== undefined)
  if (factor !== undefined) {
    return named || steps
      ? [...faults, { field: join(path, 'factor'), must: 'must be alone: give either it or prices' }]
      : faults
  }
  if (!named && !steps) return [...faults, { field: path, must: 'must have a factor, or prices of its own' }]
  const missing = (['input', 'output'] as const).filter((part) => prices[part] === undefined)
  return [
    ...faults,
    ...missing.map((part) => ({
      field: join(path, part),
      must: 'is missing: it is a price of the first step',
    })),
    ...stepFaults(steps ?? [], join(path, 'steps')),
  ]
}

function stepFaults(steps: readonly { readonly above: number }[], path: string): PriceFault[] {
  const unordered = steps.flatMap(({ above }, index): PriceFault[] => {
    const before = steps[index - 1]
    if (before === undefined || above > before.above) return []
    return [{ field: `${path}[${index}].above`, must: `must be above ${before.above}, that of the step before it` }]
  })
  return steps.length > most.steps
    ? [...unordered, { field: path, must: `must have at most ${most.steps} entries` }]
    : unordered
}

function countFaults(field: 'service_tiers' | 'regions', entries: object): PriceFault[] {
  const isTooMany = Object.keys(entries).length > most[field]
  return isTooMany ? [{ field, must: `must have at most ${most[field]} entries` }] : []
}

function nameFaults(group: string, written: string, reserved: ReadonlySet<string>, what: string): PriceFault[] {
  const field = join(group, written)
  if (!vendorName.test(written)) return [{ field, must: 'must be named by at most 64 letters, digits and . _ -' }]
  return reserved.has(written) ? [{ field, must: `must not be given: it is ${what}` }] : []
}

/**
 * Which rules the price of a text model breaks: output costs more than input, cached input no more than input, and longer cache writes no
 * less than others, at every step and tier; and every factor leaves prices that are exact.
 */
export function priceFaults({ rules, ...base }: Price): PriceFault[] {
  const { serviceTiers = {}, regions = {}, cacheWriteHour, steps } = rules ?? {}
  const standard = { ...base, cacheWriteHour, steps }
  const own = Object.entries(serviceTiers).map(([tier, prices]) => ({
    path: join('service_tiers', tier),
    prices: isFactor(prices) ? undefined : prices,
    factor: isFactor(prices) ? prices.factor : unitFactor,
  }))
  const cards = [{ path: '', prices: standard, factor: unitFactor }, ...own]
  return [
    ...cards.flatMap(({ path, prices }) => (prices ? cardFaults(path, prices) : [])),
    ...cards.flatMap(({ path, prices = standard, factor }) => [
      ...inexact(join(path, 'factor'), prices, [factor]),
      ...Object.entries(regions).flatMap(([region, of]) => inexact(join('regions', region), prices, [factor, of])),
    ]),
  ]
}

function cardFaults(path: string, card: SteppedPrices): PriceFault[] {
  const rows = [
    { path, prices: card },
    ...(card.steps ?? []).map((prices, index) => ({ path: `${join(path, 'steps')}[${index}]`, prices })),
  ]
  return rows.flatMap((row) => rowFaults(row.path, row.prices))
}

function rowFaults(
  path: string,
  { input, output, cachedInput, cacheWrite, cacheWriteHour }: TokenPrices,
): PriceFault[] {
  const written = formatPrice(input)
  const write = cacheWrite ?? input
  return [
    ...(output <= input ? [{ field: join(path, 'output'), must: `must be above the input price ${written}` }] : []),
    ...(cachedInput && cachedInput > input
      ? [{ field: join(path, 'cached_input'), must: `must not be above the input price ${written}` }]
      : []),
    ...(typeof cacheWriteHour === 'bigint' && cacheWriteHour < write
      ? [
          {
            field: join(path, 'cache_write_1h'),
            must: `must not be below the price ${formatPrice(write)} of other cache writes`,
          },
        ]
      : []),
  ]
}

/** The first product of a price with these factors, one after the other, that has more decimals than a price. */
function inexact(field: string, { steps = [], ...first }: SteppedPrices, factors: readonly bigint[]): PriceFault[] {
  for (const prices of [first, ...steps]) {
    let row: TokenPrices = prices
    for (const factor of factors) {
      const parts = [row.input, row.output, row.cachedInput, row.cacheWrite, row.cacheWriteHour]
      const part = parts.find((each) => typeof each === 'bigint' && (each * factor) % unitFactor !== 0n)
      if (typeof part === 'bigint') {
        const product = `${formatPrice(part)} × ${formatPrice(factor)}`
        return [{ field, must: `must leave prices of at most 6 decimals: ${product} has more` }]
      }
      row = multiplied(row, factor)
    }
  }
  return []
}

/** Reports what is wrong with the prices of the configuration. */
export function checkConfiguredPrices(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Models, settings)) return
  settings.models.forEach((model, index) => {
    if (!Value.Check(Priced, model)) return
    const price = Value.Decode(Priced, model).price
    const faults = rulesFaults(price)
    const all = faults.length > 0 ? faults : priceFaults(priceOf(price))
    for (const { field, must } of all) fault(`models[${index}].price.${field}`, must)
  })
}
