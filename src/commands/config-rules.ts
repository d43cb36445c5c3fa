import { checkConfiguredPrices } from '../billing/prices/price-rule.ts'
import { checkInvoicingSettings, checkReminders } from '../invoicing/settings-rule.ts'
import { checkFirstPartner } from '../people/settings-rule.ts'
import type { ConfigRule } from '../platform/config/check.ts'
import type { ResolvedRule } from '../platform/config/config.ts'
import { checkLogo } from '../platform/http/pages/logo.ts'
import { checkSignInSettings } from '../signin/settings-rule.ts'

/** The rules of the features for the configuration, beyond its schema. */
export const configRules: readonly ConfigRule[] = [
  checkConfiguredPrices,
  checkSignInSettings,
  checkFirstPartner,
  checkInvoicingSettings,
]

/** Those that need the resolved configuration. */
export const resolvedRules: readonly ResolvedRule[] = [checkReminders, checkLogo]
