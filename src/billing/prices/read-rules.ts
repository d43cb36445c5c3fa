import { Value } from 'typebox/value'
import { readValue } from '../../platform/config/check.ts'
import { priceRules } from '../../platform/config/price-settings.ts'
import { Problem } from '../../platform/problems.ts'
import { rulesFaults, rulesOf } from './price-rule.ts'
import type { PriceRules } from './rules.ts'

/**
 * Reads the rules of a price from a document with the names and values of the configuration, such as a request. Undefined if it has none. Throws Problem
 * `invalid_field` for the first fault.
 */
export function readPriceRules(document: unknown): PriceRules | undefined {
  const faults: { readonly field: string; readonly must: string }[] = []
  const report = (field: string, must: string): undefined => void faults.push({ field, must })
  const read = readValue(priceRules, document, '', { environment: {}, report })
  const settings = faults.length === 0 && Value.Check(priceRules, read) ? Value.Decode(priceRules, read) : undefined
  const [fault] = settings === undefined ? faults : rulesFaults(settings)
  if (fault) throw new Problem('invalid_field', `The field ${fault.field} ${fault.must}.`, { field: fault.field })
  if (settings === undefined) throw new Problem('invalid_field', 'The rules of the price must be a group of settings.')
  return rulesOf(settings)
}

/** The rules of a row of the price history, which were checked before they were written. */
export const storedRules = (written: unknown): PriceRules | undefined =>
  rulesOf(Value.Decode(priceRules, Value.Parse(priceRules, written)))
