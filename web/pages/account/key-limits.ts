import type { KeyShown } from '../../../src/accounts/schema.ts'
import type { Field } from '../../fields.ts'
import { numberText } from '../../locale.ts'
import { moneyText } from '../../money.ts'

/** The limits that a key may have besides those of its account. Empty: none. */
export const keyLimitFields = (currency: string): readonly Field[] => [
  { name: 'daily_budget', label: `Daily budget (${currency})`, kind: 'amount', nullable: true, maxLength: 40 },
  { name: 'monthly_budget', label: `Monthly budget (${currency})`, kind: 'amount', nullable: true, maxLength: 40 },
  { name: 'requests_per_minute', label: 'Requests per minute', kind: 'whole', nullable: true, maxLength: 20 },
  { name: 'tokens_per_minute', label: 'Tokens per minute', kind: 'whole', nullable: true, maxLength: 20 },
]

/** A key's limits, one per line, with the spent part of each budget. */
export function keyLimitTexts(key: KeyShown, currency: string): string[] {
  const { daily_budget: daily, monthly_budget: monthly, requests_per_minute: rpm, tokens_per_minute: tpm } = key
  const spent = (charged: string | null, budget: string) =>
    `${moneyText(charged ?? '0', currency)} of ${moneyText(budget, currency)}`
  return [
    ...(daily === null ? [] : [`${spent(key.charged_today, daily)} today`]),
    ...(monthly === null ? [] : [`${spent(key.charged_this_month, monthly)} this month`]),
    ...(rpm === null ? [] : [`${numberText(rpm)} requests/min`]),
    ...(tpm === null ? [] : [`${numberText(tpm)} tokens/min`]),
  ]
}
