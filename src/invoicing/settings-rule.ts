import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { readEmail } from '../people/email.ts'
import type { ReportConfigError } from '../platform/config/check.ts'
import { isDemo, type Config } from '../platform/config/config.ts'
import { taxRate } from '../platform/config/values.ts'

const Taxes = Type.Object({ invoicing: Type.Object({ tax: Type.Array(Type.Unknown()) }) })
const Issuing = Type.Object({ invoicing: Type.Object({ run: Type.Literal('issue') }) })
const NamedFirm = Type.Object({ firm: Type.Object({ name: Type.String() }) })
const ReachableFirm = Type.Object({ firm: Type.Object({ email: Type.String() }) })
const TaxSetting = Type.Object({
  category: Type.String(),
  rate: Type.String(),
  reason: Type.Optional(Type.String()),
})

/**
 * Reports taxes that EN 16931 does not allow (BR-S-5, BR-Z-5, BR-E-10 and their like), a run that cannot issue, and a firm to
 * which no payer could reply.
 */
export function checkInvoicingSettings(settings: unknown, fault: ReportConfigError): void {
  if (Value.Check(ReachableFirm, settings) && readEmail(settings.firm.email) === undefined) {
    fault('firm.email', 'must be an email address such as office@example.com')
  }
  if (Value.Check(Issuing, settings) && !Value.Check(NamedFirm, settings)) {
    fault('invoicing.run', 'must not be issue without firm.name, which every invoice must state')
  }
  if (!Value.Check(Taxes, settings)) return
  settings.invoicing.tax.forEach((tax, index) => {
    if (!Value.Check(TaxSetting, tax)) return
    const path = `invoicing.tax[${index}]`
    const { category, reason } = tax
    const isTaxed = taxRate.parse(tax.rate) > 0
    if (category === 'S' && !isTaxed) fault(`${path}.rate`, 'must be above 0 for the category S')
    if (category !== 'S' && isTaxed) fault(`${path}.rate`, `must be 0 for the category ${category}`)
    const needsReason = category !== 'S' && category !== 'Z'
    if (needsReason && reason === undefined) fault(`${path}.reason`, `is missing: the category ${category} needs one`)
    if (!needsReason && reason !== undefined) fault(`${path}.reason`, `must not be set for the category ${category}`)
  })
}

/** Reports reminders that nothing can send. The demo has a mail server of its own. */
export function checkReminders(config: Config, fault: ReportConfigError): void {
  if (config.invoicing.reminders.length === 0 || config.mail !== undefined || isDemo(config)) return
  fault('invoicing.reminders', 'must not be set without mail, by which they are sent')
}
