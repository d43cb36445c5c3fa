import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { ReportConfigError } from '../platform/config/check.ts'
import { price as priceKind } from '../platform/config/values.ts'
import type { Price } from './price.ts'

const Models = Type.Object({ models: Type.Array(Type.Unknown()) })
const Priced = Type.Object({ price: Type.Object({ input: Type.String(), output: Type.String() }) })

/** Output must cost more than input. */
export function isValidPrice({ input, output }: Price): boolean {
  return output > input
}

/** Reports each model of the configuration whose price breaks that rule. */
export function checkConfiguredPrices(settings: unknown, fault: ReportConfigError): void {
  if (!Value.Check(Models, settings)) return
  settings.models.forEach((model, index) => {
    if (!Value.Check(Priced, model)) return
    const { input, output } = model.price
    if (isValidPrice({ input: priceKind.parse(input), output: priceKind.parse(output) })) return
    fault(`models[${index}].price.output`, `must be above the input price ${input}`)
  })
}
