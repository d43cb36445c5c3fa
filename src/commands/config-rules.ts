import { checkConfiguredPrices } from '../billing/price-rule.ts'
import type { Rule } from '../platform/config/check.ts'
import { checkSignInSettings } from '../signin/settings-rule.ts'

/** What the features demand of the configuration beyond its schema. */
export const configRules: readonly Rule[] = [checkConfiguredPrices, checkSignInSettings]
