import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../../platform/config/check.ts'
import { price as priceKind } from '../../platform/config/values.ts'
import type { Price } from './price.ts'

const Models = Type.Object({ models: Type.Array(Type.Unknown()) })
const Priced = Type.Object({
  price: Type.Object({
    input: Type.String(),
    output: Type.String(),
    cached_input: Type.Optional(Type.String()),
  }),
})

/** A price as the configuration has it. */
interface ConfiguredPrice {
  readonly input: bigint
  /** Absent for an embedding model, which has none. */
  readonly output?: bigint
  readonly cached_input?: bigint
  readonly cache_write?: bigint
}

export const priceOf = (configured: ConfiguredPrice): Price => {
  const { input, output = 0n, cached_input: cachedInput, cache_write: cacheWrite } = configured
  return { input, output, cachedInput, cacheWrite }
}

/**
 * Which rule the price of a text model breaks: output costs more than input, and cached input no more than input.
 */
export function brokenPriceRule({ input, output, cachedInput }: Price): 'output' | 'cached_input' | undefined {
  if (output <= input) return 'output'
  return cachedInput && cachedInput > input ? 'cached_input' : undefined
}

const rules = { output: 'must be above', cached_input: 'must not be above' }

/** Reports each model of the configuration whose price breaks a rule. */
export function checkConfiguredPrices(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Models, settings)) return
  settings.models.forEach((model, index) => {
    if (!Value.Check(Priced, model)) return
    const { input, output, cached_input: cached } = model.price
    const price = { input: priceKind.parse(input), output: priceKind.parse(output) }
    const cachedInput = cached === undefined ? undefined : priceKind.parse(cached)
    const part = brokenPriceRule({ ...price, cachedInput })
    if (part) fault(`models[${index}].price.${part}`, `${rules[part]} the input price ${input}`)
  })
}
